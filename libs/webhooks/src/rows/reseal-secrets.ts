import { Injectable, type OnModuleInit } from '@nestjs/common';
import { CredentialVault } from '@app/registry';
import { WebhookStore } from './webhook.store.js';

/** Secrets of webhooks follow the credential key when it is rotated. */
@Injectable()
export class ResealSecrets implements OnModuleInit {
  constructor(
    private readonly vault: CredentialVault,
    private readonly webhooks: WebhookStore,
  ) {}

  onModuleInit(): void {
    this.vault.onReseal((tx) => this.webhooks.resealAll(tx));
  }
}
