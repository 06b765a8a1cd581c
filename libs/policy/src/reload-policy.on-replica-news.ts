import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Replicas } from '@app/platform';
import { Policy, POLICY_CHANGED } from './policy.js';

/** Another replica changed the policy, or its notifications may have been missed. */
@Injectable()
export class ReloadPolicyOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('policy');
  private stop: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly policy: Policy,
  ) {}

  onModuleInit(): void {
    this.stop = this.replicas.hear(({ topic }) => {
      if (topic !== undefined && topic !== POLICY_CHANGED) return;
      // `ReloadPolicyJob` tries again.
      this.policy.reload().catch((error: unknown) => {
        this.logger.warn({ err: error }, 'policy.not_reloaded');
      });
    });
  }

  onModuleDestroy(): void {
    this.stop?.();
  }
}
