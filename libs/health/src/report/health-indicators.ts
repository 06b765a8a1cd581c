import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { type HealthIndicatorResult, HealthIndicatorService } from '@nestjs/terminus';
import { AppError, Clock, Database, Drain, Env, Leadership, within } from '@app/platform';
import { AuthorizationStore, ListServers } from '@app/registry';
import { NO_ANSWER } from './health-report.js';
import { qdrantCheck } from './qdrant.js';

/** A health request is answered within this time, even if a component does not answer. */
const CHECK_DEADLINE_MS = 2_000;

/** A replica that cannot reach the database for longer shows what was changed meanwhile too late (contract R39). */
export const DATABASE_AWAY_MS = 10_000;

/** Down when rows cannot be read or written: includes a full disk and a read-only database. */
@Injectable()
export class DatabaseIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  async check(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('database');
    const ping = this.database.ping().then(
      () => 'answered' as const,
      (error: unknown) => (error instanceof AppError ? error : undefined),
    );
    const answer = await within(this.clock, CHECK_DEADLINE_MS, ping);
    if (answer === 'answered') return indicator.up();
    return indicator.down(answer?.message ?? NO_ANSWER);
  }
}

/**
 * Whether a balancer should send requests here. Most of them, such as calls to connected servers, are served from memory,
 * and all replicas lose the database at the same moment when it is restarted: it may be away for a while. The heartbeat
 * of a replica, which is a write, is the answer, so that a question costs no transaction.
 */
@Injectable()
export class ReadinessIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly indicator: DatabaseIndicator,
    private readonly database: Database,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
  ) {}

  async check(): Promise<HealthIndicatorResult> {
    const { heartbeatAt, isKnown } = this.leadership;
    const isBridged =
      heartbeatAt !== undefined && this.clock.monotonic() - heartbeatAt < DATABASE_AWAY_MS;
    // A former leader that is cut off serves no STDIO server and does not know which replica does.
    if (isBridged && isKnown && !this.database.refusesWrites)
      return this.indicators.check('database').up();
    return this.indicator.check();
  }
}

/** At worst degraded: without Qdrant, search falls back to lexical. */
@Injectable()
export class QdrantIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    @Inject(Env) private readonly env: Env,
  ) {}

  async check(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('qdrant');
    const state = await qdrantCheck(this.env, CHECK_DEADLINE_MS);
    return state === 'down' ? indicator.degraded({ state }) : indicator.up({ state });
  }
}

/** At worst degraded: one locked table does not make the database down, which has an indicator of its own. */
@Injectable()
export class ServersIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly queries: QueryBus,
    private readonly authorizations: AuthorizationStore,
    private readonly clock: Clock,
  ) {}

  async check(): Promise<HealthIndicatorResult> {
    const indicator = this.indicators.check('servers');
    const [servers, needed] = await Promise.all([
      this.inTime(this.queries.execute(new ListServers())),
      this.inTime(this.authorizations.needed()),
    ]);
    if (!servers) return indicator.degraded({});
    const unauthorized = servers.filter(({ id, wanted }) => wanted && needed?.has(id));
    return indicator.up({
      rows: servers.map(({ name, status, wanted, listFailures }) => {
        return { name, status, wanted, isUnlisted: Object.keys(listFailures).length > 0 };
      }),
      unauthorized: unauthorized.length,
    });
  }

  /** Undefined when the work fails or exceeds the deadline. */
  private inTime<T>(work: Promise<T>): Promise<T | undefined> {
    return within(
      this.clock,
      CHECK_DEADLINE_MS,
      work.catch(() => undefined),
    );
  }
}

/** Down from the shutdown signal on, while requests are still served. */
@Injectable()
export class StoppingIndicator {
  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly drain: Drain,
  ) {}

  check(): HealthIndicatorResult {
    const indicator = this.indicators.check('service');
    return this.drain.isStopping ? indicator.down('the service is stopping') : indicator.up();
  }
}
