import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CredentialVault } from '@app/registry';
import { KeyStore } from './key.store.js';
import { RecordStore } from './record.store.js';

/** What is sealed here follows the credential key when it is rotated. */
@Injectable()
export class ResealOAuth implements OnModuleInit {
  constructor(
    private readonly vault: CredentialVault,
    private readonly records: RecordStore,
    private readonly keys: KeyStore,
  ) {}

  onModuleInit(): void {
    this.vault.onReseal(async (tx) => {
      await this.records.resealAll(tx);
      await this.keys.resealAll(tx);
    });
  }
}
