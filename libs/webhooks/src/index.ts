export { WebhookRowsModule } from './rows/webhook-rows.module.js';
export { WebhooksModule } from './webhooks.module.js';
