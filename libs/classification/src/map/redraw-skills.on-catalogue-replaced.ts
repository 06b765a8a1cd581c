import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { CatalogueReplaced, SkillsChanged } from '@app/events';
import { Replicas, Signals } from '@app/platform';
import { IndexSkillsJob } from '../skills/index-skills.job.js';
import { SkillMap } from './skill-map.js';

/** Message between replicas that the taxonomy changed. */
const SKILLS_CHANGED = 'skills';

/** Updates the skill map when tools are added, removed or reclassified, or the taxonomy changes. */
@Injectable()
@EventsHandler(SkillsChanged)
export class RedrawSkillsOnCatalogueReplaced
  implements IEventHandler<SkillsChanged>, OnModuleInit, OnModuleDestroy
{
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly signals: Signals,
    private readonly map: SkillMap,
    private readonly indexing: IndexSkillsJob,
    private readonly replicas: Replicas,
  ) {}

  onModuleInit(): void {
    this.stops = [
      this.signals.hear(CatalogueReplaced, ({ written, classified, removed }) => {
        const changed = [...written, ...classified, ...removed];
        if (changed.length > 0) void this.redraw(changed);
      }),
      this.replicas.hear(({ topic }) => {
        if (topic === SKILLS_CHANGED) void this.redraw();
      }),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  async handle(): Promise<void> {
    await Promise.all([this.replicas.tell(SKILLS_CHANGED), this.redraw()]);
  }

  private async redraw(toolIds?: readonly number[]): Promise<void> {
    await this.map.refresh(toolIds);
    // Not awaited: it writes to an external service.
    void this.indexing.index();
  }
}
