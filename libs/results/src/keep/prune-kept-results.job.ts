import { Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock, Leadership, Upkeep } from '@app/platform';
import { KeptResultStore } from './kept-result.store.js';

const PRUNE_MS = 60_000;

/** Deletes results that have expired, at the replica that leads. They cannot be read any more before that. */
@Injectable()
export class PruneKeptResultsJob implements OnApplicationBootstrap {
  private readonly logger = new Logger('results');

  constructor(
    private readonly store: KeptResultStore,
    private readonly clock: Clock,
    private readonly upkeep: Upkeep,
    private readonly leadership: Leadership,
  ) {}

  onApplicationBootstrap(): void {
    void this.run();
  }

  @Interval(PRUNE_MS)
  async runAtLeader(): Promise<void> {
    if (this.leadership.leads) await this.run();
  }

  private async run(): Promise<void> {
    try {
      await this.upkeep.run(() => this.store.forgetExpired(this.clock.now()));
    } catch (error) {
      this.logger.warn({ err: error }, 'result.prune_failed');
    }
  }
}
