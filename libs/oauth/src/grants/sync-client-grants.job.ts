import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Env, oauthIssuer, Upkeep } from '@app/platform';
import { ClientGrantStore } from '../rows/client-grant.store.js';
import { SigningKeys } from '../keys/signing-keys.js';
import { KeyStore } from '../rows/key.store.js';
import { RecordStore } from '../rows/record.store.js';
import { LiveGrants } from './live-grants.js';

const RELOAD_MS = 30_000;
const PRUNE_MS = 600_000;

/** Reads grants and keys again, because a notification may be lost, and deletes what has expired or is not used. */
@Injectable()
export class SyncClientGrantsJob {
  private readonly logger = new Logger('oauth');
  private readonly isOn: boolean;

  constructor(
    env: Env,
    private readonly grants: LiveGrants,
    private readonly store: ClientGrantStore,
    private readonly records: RecordStore,
    private readonly keyRows: KeyStore,
    private readonly keys: SigningKeys,
    private readonly upkeep: Upkeep,
  ) {
    this.isOn = oauthIssuer(env) !== undefined;
  }

  @Interval(RELOAD_MS)
  async reload(): Promise<void> {
    if (!this.isOn) return;
    try {
      await this.upkeep.run(async () => {
        await this.grants.reload();
        await this.keys.reload();
      });
    } catch (error) {
      this.logger.warn({ err: error }, 'oauth.grants_not_reloaded');
    }
  }

  @Interval(PRUNE_MS)
  async prune(): Promise<void> {
    if (!this.isOn) return;
    try {
      await this.upkeep.run(async () => {
        await this.store.deleteExpired();
        await this.records.deleteUnused();
        await this.keyRows.deleteEnded();
      });
    } catch (error) {
      this.logger.warn({ err: error }, 'oauth.expired_rows_kept');
    }
  }
}
