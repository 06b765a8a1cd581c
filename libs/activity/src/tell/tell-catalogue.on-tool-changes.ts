import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import { SkillsChanged, ToolsClassified, ToolsDiscovered } from '@app/events';
import { Signals } from '@app/platform';
import { ActivityFeed } from '../feed/activity-feed.js';

/** Published by the one replica that wrote the rows. */
@Injectable()
export class TellCatalogueOnToolChanges implements OnModuleInit, OnModuleDestroy {
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly signals: Signals,
    private readonly catalogue: Catalogue,
    private readonly feed: ActivityFeed,
  ) {}

  onModuleInit(): void {
    const { signals } = this;
    this.stops = [
      signals.hear(ToolsDiscovered, (event) => this.tellDiscovered(event)),
      signals.hear(ToolsClassified, ({ serverIds, toolIds }) =>
        this.feed.tell({
          topic: 'catalogue',
          data: { change: 'classified', classified: toolIds.length },
          serverIds,
        }),
      ),
      signals.hear(SkillsChanged, ({ skillId }) =>
        this.feed.tell({ topic: 'catalogue', data: { change: 'skills', skill_id: skillId } }),
      ),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  /** Published also when nothing has changed. */
  private tellDiscovered(event: ToolsDiscovered): Promise<void> | undefined {
    const { serverId, added, changed, removed } = event;
    if (added.length + changed.length + removed.length === 0) return undefined;
    const data = {
      change: 'discovered',
      server_id: serverId,
      server: this.catalogue.current.servers.get(serverId)?.name ?? null,
      added: added.length,
      changed: changed.length,
      removed: removed.length,
    };
    return this.feed.tell({ topic: 'catalogue', data, serverIds: [serverId] });
  }
}
