import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Replicas } from '@app/platform';
import { Learning, SEARCH_USED, TOOLS_FORGOTTEN } from '../credit/learning.js';
import { learntToolIn, USES_CHANGED } from '../rows/tool-use.store.js';
import { LearntTools } from './learnt-tools.js';

/** Another replica learnt or forgot something, saw a use after a search of this one, or its messages may have been missed. */
@Injectable()
export class ReloadUsesOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('learning');
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly learnt: LearntTools,
    private readonly learning: Learning,
  ) {}

  onModuleInit(): void {
    this.stop = this.replicas.hear(({ topic, ids }) => {
      if (topic === SEARCH_USED) for (const id of ids) this.learning.hearUse(id);
      else if (topic === TOOLS_FORGOTTEN)
        for (const id of ids) this.learning.forgetTool(Number(id));
      else if (topic === undefined) this.load([]);
      else if (topic === USES_CHANGED) this.load(ids);
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }

  /** Without ids everything may have changed. */
  private load(ids: readonly string[]): void {
    const tools = ids.flatMap((id) => learntToolIn(id) ?? []);
    // `KeepUsesJob` tries again.
    this.learnt.load(tools.length > 0 ? tools : undefined).catch((error: unknown) => {
      this.logger.warn({ err: error }, 'learning.uses_not_loaded');
    });
  }
}
