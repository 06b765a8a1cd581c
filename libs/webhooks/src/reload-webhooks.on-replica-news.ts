import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Replicas } from '@app/platform';
import { KnownWebhooks } from './known-webhooks.js';
import { DeliverySender } from './send/delivery-sender.js';
import { DELIVERIES_WAIT, WEBHOOKS_CHANGED } from './webhook.js';

/** Another replica changed a webhook or stored events, or its notifications may have been missed. */
@Injectable()
export class ReloadWebhooksOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly webhooks: KnownWebhooks,
    private readonly sender: DeliverySender,
  ) {}

  onModuleInit(): void {
    this.stop = this.replicas.hear(async ({ topic }) => {
      if (topic === undefined || topic === WEBHOOKS_CHANGED) await this.webhooks.tryReload();
      if (topic === undefined || topic === WEBHOOKS_CHANGED || topic === DELIVERIES_WAIT) {
        this.sender.wake();
      }
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }
}
