import { Module } from '@nestjs/common';
import { ActivityModule } from '@app/activity';
import { CatalogueModule } from '@app/catalogue';
import { ChangeWebhookHandler } from './change/change-webhook.command.js';
import { CreateWebhookHandler } from './change/create-webhook.command.js';
import { RemoveWebhookHandler } from './change/remove-webhook.command.js';
import { WebhookRules } from './change/webhook-rules.js';
import { WebhooksController } from './change/webhooks.controller.js';
import { KnownWebhooks } from './known-webhooks.js';
import { ReloadWebhooksOnReplicaNews } from './reload-webhooks.on-replica-news.js';
import { WebhookRowsModule } from './rows/webhook-rows.module.js';
import { DeliveryOutbox } from './send/delivery-outbox.js';
import { DeliverySender } from './send/delivery-sender.js';
import { PostDelivery } from './send/post-delivery.js';
import { SendersOfAll } from './send/senders-of-all.js';

@Module({
  imports: [ActivityModule, CatalogueModule, WebhookRowsModule],
  controllers: [WebhooksController],
  providers: [
    ChangeWebhookHandler,
    CreateWebhookHandler,
    DeliveryOutbox,
    DeliverySender,
    KnownWebhooks,
    PostDelivery,
    ReloadWebhooksOnReplicaNews,
    RemoveWebhookHandler,
    SendersOfAll,
    WebhookRules,
  ],
})
export class WebhooksModule {}
