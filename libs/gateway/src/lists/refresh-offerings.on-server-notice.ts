import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import type { OfferedKind } from './offered-list.js';
import { Offerings } from './offerings.js';
import { ServerNotifications } from '../notify/server-notifications.js';

const kindsOf = {
  prompts: ['prompts'],
  resources: ['resources', 'resourceTemplates'],
} as const satisfies Record<string, readonly OfferedKind[]>;

@Injectable()
export class RefreshOfferingsOnServerNotice implements OnModuleInit {
  private readonly logger = new Logger(RefreshOfferingsOnServerNotice.name);

  constructor(
    private readonly notifications: ServerNotifications,
    private readonly offerings: Offerings,
  ) {}

  onModuleInit(): void {
    this.notifications.watch((serverId, { kind }) => {
      if (kind !== 'prompts' && kind !== 'resources') return;
      this.offerings.refresh(serverId, kindsOf[kind]).catch((error: unknown) => {
        this.logger.error({ server_id: serverId, err: error }, 'offering.refresh_failed');
      });
    });
  }
}
