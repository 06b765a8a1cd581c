import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Env, oauthIssuer, Replicas } from '@app/platform';
import { GRANTS_CHANGED } from './client-grant.js';
import { LiveGrants } from './live-grants.js';

/** Another replica gave or withdrew a grant, or its notifications may have been missed. */
@Injectable()
export class ReloadClientGrantsOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('oauth');
  private stop: (() => void) | undefined;

  constructor(
    private readonly env: Env,
    private readonly replicas: Replicas,
    private readonly grants: LiveGrants,
  ) {}

  onModuleInit(): void {
    if (oauthIssuer(this.env) === undefined) return;
    this.stop = this.replicas.hear(({ topic }) => {
      if (topic !== undefined && topic !== GRANTS_CHANGED) return;
      // `SyncClientGrantsJob` tries again.
      this.grants.reload().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'oauth.grants_not_reloaded');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }
}
