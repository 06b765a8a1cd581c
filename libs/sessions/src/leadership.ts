import { Inject, Injectable } from '@nestjs/common';
import { Database, Env, type ExclusiveLock } from '@app/platform';

const SESSIONS_LOCK = 7_202_613;

/**
 * Of several processes on one database, one leads: it connects unasked, checks health, and alone
 * writes what state servers are in. The others open sessions only when calls need them, and tell no row.
 */
@Injectable()
export class Leadership {
  private readonly lock: ExclusiveLock | undefined;
  private held: boolean;

  constructor(database: Database, @Inject(Env) env: Env) {
    // The embedded database belongs to one process.
    this.lock = env.DATABASE_URL ? database.exclusiveLock(SESSIONS_LOCK) : undefined;
    this.held = this.lock === undefined;
  }

  get leads(): boolean {
    return this.held;
  }

  async refresh(): Promise<boolean> {
    if (this.lock) this.held = await this.lock.hold().catch(() => false);
    return this.held;
  }

  async resign(): Promise<void> {
    this.held = false;
    await this.lock?.free().catch(() => undefined);
  }
}
