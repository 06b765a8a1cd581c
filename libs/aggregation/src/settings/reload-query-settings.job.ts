import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Upkeep } from '@app/platform';
import { QuerySettings } from './query-settings.js';

const RELOAD_MS = 30_000;

/** Finds changes of other replicas whose notification was lost. */
@Injectable()
export class ReloadQuerySettingsJob {
  private readonly logger = new Logger(ReloadQuerySettingsJob.name);

  constructor(
    private readonly settings: QuerySettings,
    private readonly upkeep: Upkeep,
  ) {}

  @Interval(RELOAD_MS)
  async run(): Promise<void> {
    try {
      await this.upkeep.run(() => this.settings.reload());
    } catch (error) {
      this.logger.warn({ err: error }, 'query.settings_not_reconciled');
    }
  }
}
