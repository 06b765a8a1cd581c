import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Replicas } from '@app/platform';
import { Tokens } from '../authenticate/tokens.js';
import { TOKENS_CHANGED } from './issued-token.js';

/** Another replica issued or revoked tokens, or its notifications may have been missed. */
@Injectable()
export class ReloadTokensOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('access');
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly tokens: Tokens,
  ) {}

  onModuleInit(): void {
    this.stop = this.replicas.hear(({ topic }) => {
      if (topic !== undefined && topic !== TOKENS_CHANGED) return;
      // `SyncTokensJob` tries again.
      this.tokens.reload().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'access.tokens_not_reloaded');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }
}
