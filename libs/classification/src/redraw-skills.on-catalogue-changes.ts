import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { Catalogue } from '@app/discovery';
import { SkillsChanged } from '@app/events';
import { SkillMap } from './skill-map.js';

/** Tools that came, went or got other skills move the skills; so does a change of the taxonomy. */
@Injectable()
@EventsHandler(SkillsChanged)
export class RedrawSkillsOnCatalogueChanges
  implements IEventHandler<SkillsChanged>, OnModuleInit, OnModuleDestroy
{
  private unsubscribe: (() => void) | undefined;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly map: SkillMap,
  ) {}

  onModuleInit(): void {
    this.unsubscribe = this.catalogue.subscribe((next, previous) => {
      if (next.toolsById !== previous.toolsById) void this.map.refresh();
    });
  }

  onModuleDestroy(): void {
    this.unsubscribe?.();
  }

  async handle(): Promise<void> {
    await this.map.refresh();
  }
}
