import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { RowWatches, whenChanged } from '@app/platform';
import { QuerySettings } from './query-settings.js';
import { QUERY_SETTINGS_MARK } from './query-settings.store.js';

/** Finds changes of other replicas whose notification was lost. */
@Injectable()
export class ReloadQuerySettingsJob implements OnModuleInit {
  private readonly logger = new Logger(ReloadQuerySettingsJob.name);

  constructor(
    private readonly settings: QuerySettings,
    private readonly rows: RowWatches,
  ) {}

  onModuleInit(): void {
    this.rows.add({
      mark: QUERY_SETTINGS_MARK,
      look: whenChanged(() => this.settings.reload()),
      failed: (error) => this.logger.warn({ err: error }, 'query.settings_not_reconciled'),
    });
  }
}
