import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { Catalogue } from '@app/discovery';
import { SkillsChanged } from '@app/events';
import { Replicas } from '@app/platform';
import { IndexSkillsJob } from './index-skills.job.js';
import { SkillMap } from './skill-map.js';

/** What replicas tell each other of the taxonomy. */
const SKILLS_CHANGED = 'skills';

/** Tools that came, went or got other skills move the skills; so does a change of the taxonomy. */
@Injectable()
@EventsHandler(SkillsChanged)
export class RedrawSkillsOnCatalogueChanges
  implements IEventHandler<SkillsChanged>, OnModuleInit, OnModuleDestroy
{
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly catalogue: Catalogue,
    private readonly map: SkillMap,
    private readonly indexing: IndexSkillsJob,
    private readonly replicas: Replicas,
  ) {}

  onModuleInit(): void {
    this.stops = [
      this.catalogue.subscribe((next, previous) => {
        if (next.toolsById !== previous.toolsById) void this.redraw();
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

  private async redraw(): Promise<void> {
    await this.map.refresh();
    // Somebody else's service; nobody waits for it.
    void this.indexing.index();
  }
}
