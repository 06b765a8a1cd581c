import { Module } from '@nestjs/common';
import { RegistryModule } from '@app/registry';
import { DeliveryStore } from './delivery.store.js';
import { ResealSecrets } from './reseal-secrets.js';
import { WebhookStore } from './webhook.store.js';

/** The rows alone, for the rotation of the credential key. */
@Module({
  imports: [RegistryModule],
  providers: [DeliveryStore, ResealSecrets, WebhookStore],
  exports: [DeliveryStore, WebhookStore],
})
export class WebhookRowsModule {}
