import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Replicas } from '@app/platform';
import { QUERY_SETTINGS_CHANGED, QuerySettings } from './query-settings.js';

/** Another replica changed rules or settings, or its notifications may have been missed. */
@Injectable()
export class ReloadQuerySettingsOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(ReloadQuerySettingsOnReplicaNews.name);
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly settings: QuerySettings,
  ) {}

  onModuleInit(): void {
    this.stop = this.replicas.hear(({ topic }) => {
      if (topic !== undefined && topic !== QUERY_SETTINGS_CHANGED) return;
      this.settings.reload().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'query.settings_not_reloaded');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }
}
