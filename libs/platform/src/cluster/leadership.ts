import {
  type BeforeApplicationShutdown,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { z } from 'zod';
import { Clock } from '../work/clock.js';
import type { Tx } from '../database/database.js';
import { AppError } from '../errors/app-error.js';
import { Signal } from '../signal.js';
import { CONTROL_CONNECTION, ControlConnection } from './control-connection.js';
import { knock } from './knock.js';
import { PeerPulse } from './peer-pulse.js';
import { LIVING_PEERS, peerRows, Peers } from './peers.js';
import { RunningTenure, type Tenure } from './tenure.js';

/** A lease that was not renewed for this long can be taken over. */
export const LEASE_MS = 5_000;
/** The leader stops leading so much earlier: what only a leader may run has to have ended when another begins. */
const END_EARLIER_MS = 500;
/** How long a process leads after it has asked for the last renewal. */
export const LEADS_MS = LEASE_MS - END_EARLIER_MS;
/** All replicas write their row this often; those that do not lead ask earlier when the lease runs out. */
export const ASK_EVERY_MS = 2_000;
/** While others are there, the leader renews this often. */
const RENEW_EVERY_MS = 1_000;
/** After the lease has run out by the clock of the database. */
const TAKE_OVER_AFTER_MS = 20;
/** For the others to hear that this process leaves, and for requests that they sent before. */
const LAST_REQUESTS_MS = 500;
/** PostgreSQL channel that tells the others to ask now: a leader stops, or another has taken over. */
const ASK_NOW = 'switchboard_leader';
/** Of advisory locks: each process holds one on its control connection, which PostgreSQL frees with the connection. */
const CONNECTED_LOCKS = 1_763_700;
/** For the machine of a leader to answer. */
const KNOCK_MS = 500;

const connectedLock = (id: string): string => `${CONNECTED_LOCKS}, hashtext(${id}::text)`;
/** Whether PostgreSQL has a control connection of this replica. */
const isConnected = (id: string): string => `EXISTS (
  SELECT 1 FROM pg_locks
  WHERE locktype = 'advisory' AND classid = ${CONNECTED_LOCKS} AND objsubid = 2
    AND objid::bigint = hashtext(${id}::text)::bigint & 4294967295
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))`;

/**
 * One statement, so that an idle replica costs one transaction every two seconds: the row of this process, the lease
 * (renewed or taken, unless it has resigned), and what the others wrote. Renewing leaves the term as it is, so that
 * PostgreSQL does not make it wait for fenced writes. $7 is a leader whose address refuses connections: without a
 * connection to PostgreSQL either its process has ended, and its lease need not run out.
 */
const ASK = `
  WITH present AS (
    INSERT INTO mcp.replicas (id, url, protocol, version, seen_at)
    VALUES ($1, $3, $4, $5, clock_timestamp())
    ON CONFLICT (id) DO UPDATE SET url = excluded.url, seen_at = excluded.seen_at),
  forgotten AS (
    DELETE FROM mcp.replicas
    WHERE seen_at < clock_timestamp() - interval '1 hour' AND id <> $1
      OR id = $7::uuid AND NOT ${isConnected('id')}),
  lease AS (
    UPDATE mcp.leader_lease
    SET holder = $1, term = CASE WHEN holder = $1 THEN term ELSE term + 1 END,
      expires_at = clock_timestamp() + $2::interval
    WHERE $6::boolean AND (holder = $1 OR expires_at <= clock_timestamp()
      OR holder = $7::uuid AND NOT ${isConnected('holder')})
    RETURNING term)
  SELECT (SELECT term::text FROM lease) AS term,
    (SELECT json_build_object('id', holder, 'is_connected', ${isConnected('holder')},
       'is_starting', EXISTS (SELECT 1 FROM mcp.replicas WHERE id = holder AND url IS NULL),
       'expires_in_ms', (extract(epoch FROM expires_at - clock_timestamp()) * 1000)::float8)
     FROM mcp.leader_lease WHERE expires_at > clock_timestamp()) AS leader,
    (SELECT coalesce(json_agg(living), '[]') FROM (${LIVING_PEERS}) AS living) AS peers`;

const asked = z.object({
  term: z.string().nullable(),
  /** Before the statement, so that it is another replica or none. */
  leader: z
    .object({
      id: z.uuid(),
      is_connected: z.boolean(),
      /** It does not listen yet. */
      is_starting: z.boolean(),
      expires_in_ms: z.number(),
    })
    .nullable(),
  peers: peerRows,
});
type Leader = NonNullable<z.infer<typeof asked>['leader']>;

/**
 * Leader election among the processes on one PostgreSQL, by a lease in a row and the clock of the database. Only the
 * leader connects servers in the background, checks their health and writes their status.
 *
 * A process that was stopped, or whose machine lost the network, leads no longer when its own monotonic clock says so;
 * what it still has under way is refused by `fence`.
 */
@Injectable()
export class Leadership
  implements OnApplicationBootstrap, BeforeApplicationShutdown, OnApplicationShutdown
{
  private readonly logger = new Logger(Leadership.name);
  private readonly stop = new AbortController();
  private readonly changed = new Signal<boolean>('leadership');
  /** Counts the leaders; undefined while another process leads. */
  private term: string | undefined;
  /** Monotonic; when PostgreSQL was asked for what it took last: the row of this process. */
  heartbeatAt: number | undefined;
  /** Monotonic. */
  private leadsUntil = 0;
  /** Of the lease of another, when it was asked about last. */
  private expiresInMs: number | undefined;
  private hasResigned = false;
  private hasLeft = false;
  private announced = false;
  private isWatched = false;
  private tenure: RunningTenure | undefined;
  /** The leader whose address and whose connection to PostgreSQL were seen to work. */
  private reachedLeader: string | undefined;
  private examining: Promise<void> | undefined;

  constructor(
    private readonly control: ControlConnection,
    private readonly clock: Clock,
    private readonly peers: Peers,
    private readonly pulse: PeerPulse,
  ) {}

  private get self(): string {
    return this.peers.self;
  }

  get leads(): boolean {
    // The embedded database is used by one process only.
    if (!this.control.isNeeded) return true;
    return this.term !== undefined && this.clock.monotonic() < this.leadsUntil;
  }

  /** Whether it is known which replica leads, so that requests for STDIO servers get there. */
  get isKnown(): boolean {
    return this.leads || this.peers.isLeaderInRows || !this.peers.hasOthers;
  }

  async onApplicationBootstrap(): Promise<void> {
    if (!this.control.isNeeded) return;
    this.control.onOpened(() => this.listen());
    this.control.onNotification(({ channel }) => {
      if (channel === ASK_NOW) void this.refresh();
    });
    await this.listen();
    void this.keepAsking();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.leave();
  }

  onApplicationShutdown(): void {
    this.stop.abort();
  }

  /**
   * The time for which this process leads, for what may run only then; undefined when it does not lead, and with the
   * embedded database.
   */
  currentTenure(): Tenure | undefined {
    const { term } = this;
    if (term === undefined || !this.leads) return undefined;
    this.tenure ??= new RunningTenure(term, () => this.hasLost(term));
    return this.tenure;
  }

  /** Called with whether this process leads, each time that it changes. */
  onChange(listener: (leads: boolean) => unknown): () => void {
    return this.changed.hear(listener);
  }

  /** Renews the lease, or takes it when it is free or its holder has ended. */
  async refresh(): Promise<boolean> {
    if (!this.control.isNeeded || this.hasLeft) return this.leads;
    const other = await this.ask();
    if (other) {
      this.examining ??= this.examine(other).finally(() => (this.examining = undefined));
      await this.examining;
    }
    return this.leads;
  }

  /** The replica that leads, if it is another one. */
  private async ask(ended?: string): Promise<Leader | undefined> {
    // What was under way when this process left must not write its row again.
    if (this.hasLeft) return undefined;
    const askedAt = this.clock.monotonic();
    let other: Leader | undefined;
    let isNew = false;
    try {
      const [row] = await this.control.query(ASK, [
        this.self,
        `${LEASE_MS} milliseconds`,
        ...this.peers.row.slice(1),
        !this.hasResigned,
        ended ?? null,
      ]);
      const { term, leader, peers } = asked.parse(row);
      this.heartbeatAt = askedAt;
      isNew = term !== null && term !== this.term;
      // It may have resigned since it asked.
      this.term = this.hasResigned ? undefined : (term ?? undefined);
      if (term !== null) this.leadsUntil = askedAt + LEADS_MS;
      if (term === null) other = leader ?? undefined;
      this.expiresInMs = other?.expires_in_ms;
      const living = term === null ? peers : peers.filter(({ id }) => id !== ended);
      this.peers.learn(living, other?.id, other?.is_starting);
      for (const peer of this.peers.quiet) void this.pulse.askOnce(peer);
    } catch (error) {
      // Leads until the lease runs out.
      this.logger.debug({ err: error }, 'the lease could not be renewed');
      this.expiresInMs = undefined;
      await this.hearOfLeader();
    }
    this.announce();
    if (this.leads) void this.watchLease();
    if (isNew) await this.tellOthers();
    return other;
  }

  /** Without the database, another replica may know who leads: one that still reaches it. */
  private async hearOfLeader(): Promise<void> {
    if (this.leads) return;
    const { heartbeatAt } = this;
    const leader = await this.pulse.leader();
    // The rows may have been read meanwhile.
    if (leader === undefined || this.leads || this.heartbeatAt !== heartbeatAt) return;
    this.peers.follow(leader);
  }

  /**
   * The process of a leader that was killed has ended: PostgreSQL has no connection of it any more, and its machine,
   * where it was reached before, refuses connections. A leader that stands still keeps both, and one that lost only its
   * connection to PostgreSQL accepts ours; those lead until their lease runs out.
   */
  private async examine({ id, is_connected }: Leader): Promise<void> {
    const url = this.peers.get(id)?.url;
    if (url === undefined) return;
    const wasReached = this.reachedLeader === id;
    if (is_connected && !wasReached) {
      if ((await knock(url, KNOCK_MS)) === 'accepted') this.reachedLeader = id;
    } else if (!is_connected && wasReached) {
      if ((await knock(url, KNOCK_MS)) === 'refused') await this.ask(id);
    }
  }

  /** Whether no other process is there that could take over. */
  async isAlone(): Promise<boolean> {
    if (!this.control.isNeeded) return true;
    try {
      const others = await this.control.query(
        `SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = $1 AND pid <> pg_backend_pid()
         LIMIT 1`,
        [CONTROL_CONNECTION],
      );
      return others.length === 0;
    } catch {
      return true; // without a database nothing is written anyway
    }
  }

  /** Another process may lead from now on, and this one never again. Its heartbeat continues until it leaves. */
  async resign(): Promise<void> {
    if (!this.control.isNeeded || this.hasResigned) return;
    this.hasResigned = true;
    const { leads, term } = this;
    this.term = undefined;
    if (!leads) return;
    await this.control
      .query(
        `WITH freed AS (
           UPDATE mcp.leader_lease SET expires_at = clock_timestamp()
           WHERE holder = $1 AND term = $2 RETURNING 1)
         SELECT pg_notify($3, '') FROM freed`,
        [this.self, term, ASK_NOW],
      )
      .catch(() => undefined);
    this.announce();
  }

  /** The others pass nothing on to this process as soon as they have heard; what is on its way is still answered. */
  async leave(): Promise<void> {
    if (!this.control.isNeeded || this.hasLeft) return;
    this.hasLeft = true;
    await this.control
      .query(
        `WITH gone AS (DELETE FROM mcp.replicas WHERE id = $1 RETURNING 1)
         SELECT pg_notify($2, '') FROM gone`,
        [this.self, ASK_NOW],
      )
      .catch(() => undefined);
    if (this.peers.hasOthers) await this.clock.sleep(LAST_REQUESTS_MS);
  }

  /**
   * In the transaction of a write that only the leader may make: rejects with NotLeading when another process leads
   * now, and keeps others from taking over until the transaction ends.
   */
  async fence(tx: Tx): Promise<void> {
    if (!this.control.isNeeded) return;
    const rows = this.leads
      ? await tx.query<unknown[]>(
          // A leader that is stopped within the transaction keeps others waiting for no longer than this.
          `SELECT set_config('idle_in_transaction_session_timeout', '2000', true)
           FROM (SELECT 1 FROM mcp.leader_lease WHERE holder = $1 AND term = $2 FOR KEY SHARE) AS held`,
          [this.self, this.term],
        )
      : [];
    if (rows.length === 0) throw new NotLeading();
  }

  private async listen(): Promise<void> {
    const lock = `SELECT pg_advisory_lock_shared(${connectedLock(`'${this.self}'`)})`;
    for (const sql of [lock, `LISTEN ${ASK_NOW}`]) {
      await this.control.query(sql).catch(() => undefined);
    }
    await this.refresh();
  }

  private async keepAsking(): Promise<void> {
    while (!this.stop.signal.aborted) {
      await this.clock.sleep(this.asksInMs, this.stop.signal).catch(() => undefined);
      if (!this.stop.signal.aborted) await this.refresh();
    }
  }

  private get asksInMs(): number {
    if (this.leads && this.peers.hasOthers) return RENEW_EVERY_MS;
    const { expiresInMs = ASK_EVERY_MS } = this;
    return Math.min(ASK_EVERY_MS, Math.max(0, expiresInMs) + TAKE_OVER_AFTER_MS);
  }

  /** That they ask who leads, to close their sessions to the former leader. */
  private async tellOthers(): Promise<void> {
    await this.control.query(`SELECT pg_notify('${ASK_NOW}', '')`).catch(() => undefined);
  }

  /** Tells when the lease has run out while no question was answered. */
  private async watchLease(): Promise<void> {
    if (this.isWatched) return;
    this.isWatched = true;
    while (this.leads && !this.stop.signal.aborted) {
      const leftMs = Math.ceil(this.leadsUntil - this.clock.monotonic());
      await this.clock.sleep(Math.max(1, leftMs), this.stop.signal).catch(() => undefined);
    }
    this.isWatched = false;
    this.announce();
  }

  /**
   * A process that resigned ends by itself what it runs. Alone, as far as it knows, it keeps that during an outage of
   * the database: no replica is there that could take over.
   */
  private hasLost(term: string): boolean {
    if (this.hasResigned) return false;
    return this.term !== term || (!this.leads && this.peers.hasOthers);
  }

  private announce(): void {
    if (this.tenure?.isOver) {
      this.tenure.end();
      this.tenure = undefined;
    }
    const { leads } = this;
    if (leads === this.announced) return;
    this.announced = leads;
    if (leads) this.logger.log({ term: this.term }, 'leadership.taken');
    else this.logger.log('leadership.lost');
    void this.changed.tell(leads);
  }
}

/** A write of a process that leads no longer; nothing was written. */
export class NotLeading extends AppError {
  constructor() {
    super('Another replica leads now; nothing was changed', {
      kind: 'conflict',
      code: 'NOT_LEADING',
    });
  }
}
