import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Replicas } from '@app/platform';
import { SIGNING_KEYS_CHANGED, SigningKeys } from './signing-keys.js';

/** Another replica rotated the key, or its notifications may have been missed. */
@Injectable()
export class ReloadSigningKeysOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('oauth');
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly keys: SigningKeys,
  ) {}

  onModuleInit(): void {
    this.stop = this.replicas.hear(({ topic }) => {
      if (topic !== undefined && topic !== SIGNING_KEYS_CHANGED) return;
      // `SyncClientGrantsJob` tries again.
      this.keys.reload().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'oauth.keys_not_reloaded');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }
}
