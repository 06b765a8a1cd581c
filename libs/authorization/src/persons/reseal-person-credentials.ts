import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CredentialVault } from '@app/registry';
import { PersonCredentialStore } from './person-credential.store.js';

/** Credentials of people follow the credential key when it is rotated. */
@Injectable()
export class ResealPersonCredentials implements OnModuleInit {
  constructor(
    private readonly vault: CredentialVault,
    private readonly store: PersonCredentialStore,
  ) {}

  onModuleInit(): void {
    this.vault.onReseal((tx) => this.store.resealAll(tx));
  }
}
