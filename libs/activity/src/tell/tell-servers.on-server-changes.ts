import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import {
  ServerListsChanged,
  ServerRegistered,
  ServerRemoved,
  ServerStatusChanged,
  ServerUpdated,
} from '@app/events';
import { type JsonObject, Signals } from '@app/platform';
import { ActivityFeed } from '../feed/activity-feed.js';

/** Each of these is published by the one replica that wrote the row. */
@Injectable()
export class TellServersOnServerChanges implements OnModuleInit, OnModuleDestroy {
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly signals: Signals,
    private readonly catalogue: Catalogue,
    private readonly feed: ActivityFeed,
  ) {}

  onModuleInit(): void {
    const { signals } = this;
    this.stops = [
      signals.hear(ServerRegistered, ({ serverId, server }) =>
        this.tell(serverId, 'registered', { server: server?.name ?? this.nameOf(serverId) }),
      ),
      signals.hear(ServerUpdated, ({ serverId, fields }) =>
        this.tell(serverId, 'updated', { fields: [...fields] }),
      ),
      signals.hear(ServerRemoved, ({ serverId, name }) =>
        this.tell(serverId, 'removed', { server: name }),
      ),
      signals.hear(ServerStatusChanged, ({ serverId, from, to, server }) =>
        this.tell(serverId, 'status', {
          server: server?.name ?? this.nameOf(serverId),
          from,
          to,
          reason: server?.errorMessage ?? null,
        }),
      ),
      signals.hear(ServerListsChanged, ({ serverId }) => this.tell(serverId, 'lists', {})),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  private tell(serverId: string, change: string, about: JsonObject): Promise<void> | undefined {
    const data = { change, server_id: serverId, server: this.nameOf(serverId), ...about };
    return this.feed.tell({ topic: 'server', data, serverIds: [serverId] });
  }

  private nameOf(serverId: string): string | null {
    return this.catalogue.current.servers.get(serverId)?.name ?? null;
  }
}
