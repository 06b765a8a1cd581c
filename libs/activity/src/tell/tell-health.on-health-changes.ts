import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import { HealthFailed, HealthRecovered } from '@app/events';
import { type JsonObject, Signals } from '@app/platform';
import { ActivityFeed } from '../feed/activity-feed.js';

/** Published by the replica that checks. */
@Injectable()
export class TellHealthOnHealthChanges implements OnModuleInit, OnModuleDestroy {
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly signals: Signals,
    private readonly catalogue: Catalogue,
    private readonly feed: ActivityFeed,
  ) {}

  onModuleInit(): void {
    const { signals } = this;
    this.stops = [
      signals.hear(HealthFailed, ({ serverId, consecutiveFailures, reason }) =>
        this.tell(serverId, 'failed', { consecutive_failures: consecutiveFailures, reason }),
      ),
      signals.hear(HealthRecovered, ({ serverId }) => this.tell(serverId, 'recovered', {})),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  private tell(serverId: string, change: string, about: JsonObject): Promise<void> | undefined {
    const server = this.catalogue.current.servers.get(serverId)?.name ?? null;
    const data = { change, server_id: serverId, server, ...about };
    return this.feed.tell({ topic: 'health', data, serverIds: [serverId] });
  }
}
