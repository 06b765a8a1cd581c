import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { RowWatches, whenChanged } from '@app/platform';
import { Policy } from './policy.js';
import { POLICY_MARK } from './rows/policy.store.js';

/** Finds changes of other replicas whose notification was lost, and rules that went with their server. */
@Injectable()
export class ReloadPolicyJob implements OnModuleInit {
  private readonly logger = new Logger('policy');

  constructor(
    private readonly policy: Policy,
    private readonly rows: RowWatches,
  ) {}

  onModuleInit(): void {
    this.rows.add({
      mark: POLICY_MARK,
      look: whenChanged(() => this.policy.reload()),
      failed: (error) => this.logger.warn({ err: error }, 'policy.not_reloaded'),
    });
  }
}
