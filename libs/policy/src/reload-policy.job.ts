import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Upkeep } from '@app/platform';
import { Policy } from './policy.js';

const RELOAD_MS = 30_000;

/** Finds changes of other replicas whose notification was lost, and rules that went with their server. */
@Injectable()
export class ReloadPolicyJob {
  private readonly logger = new Logger('policy');

  constructor(
    private readonly policy: Policy,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(RELOAD_MS)
  async run(): Promise<void> {
    try {
      await this.upkeep.run(() => this.policy.reload());
    } catch (error) {
      this.logger.warn({ err: error }, 'policy.not_reloaded');
    }
  }
}
