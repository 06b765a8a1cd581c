import { Inject, Injectable, Logger } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Env } from '../config/env.js';
import { product } from '../product.js';
import { Signal } from '../signal.js';
import { Clock } from '../work/clock.js';
import { ControlConnection } from './control-connection.js';

/** A replica whose row did not change for this long is gone, unless it answers. */
export const PEER_GONE_MS = 7_000;
/** One whose row did not change for this long is asked at every heartbeat whether it is there. */
const QUIET_MS = 4_000;
/** Longer than from one heartbeat to the next. */
const ANSWERS_MS = 3_000;
/** After a pause this long we know nothing of the others: the database, or this process, stood still. */
const BLIND_AFTER_MS = 4_500;
/**
 * Requests are passed on only between replicas that speak the same protocol among each other: those of another one do
 * not see this one. Raised for what a receiver must not ignore, such as a key of a pass that takes rights away; other
 * new keys are ignored by replicas that do not know them, so that both versions serve during a rolling update.
 */
export const PEER_PROTOCOL = 1;
/** A replica that answered this recently is awake, and may be sent what must not be sent twice. */
const AWAKE_MS = 250;
/** Ids of client sessions are input: an unknown one asks the database at most this often. */
const LOOK_UP_EVERY_MS = 250;

/** Another replica on the same database. */
export interface Peer {
  readonly id: string;
  readonly url: string;
}

export const peerRows = z.array(
  z.object({
    id: z.uuid(),
    url: z.url(),
    /** Of the last heartbeat, by the clock of the database; compared only with itself. */
    seen: z.string(),
    age_ms: z.number(),
  }),
);
export type PeerRow = z.infer<typeof peerRows>[number];

interface Known extends Peer {
  readonly seen: string;
  /** Monotonic, when its row changed last. */
  readonly changedAt: number;
}

/** For other statements: the replicas that can be passed to. */
export const LIVING_PEERS = `
  SELECT id, url, seen_at::text AS seen,
    (extract(epoch FROM clock_timestamp() - seen_at) * 1000)::float8 AS age_ms
  FROM mcp.replicas
  WHERE url IS NOT NULL AND protocol = ${PEER_PROTOCOL} AND seen_at > clock_timestamp() - interval '10 minutes'`;

/**
 * The other replicas on this database, as of the last heartbeat (`Leadership`). A replica is gone when it has left, or
 * when its heartbeat stands still while ours continues and it does not answer: after an outage of the database no
 * replica is taken for gone, and none that alone has lost the database.
 */
@Injectable()
export class Peers {
  /** Of this process; a new one at every start. */
  readonly self = randomUUID();
  /** Where the others reach this process; undefined until it listens. */
  url: string | undefined;
  private readonly logger = new Logger(Peers.name);
  private readonly went = new Signal<string>('replicas that are gone');
  private readonly led = new Signal<string>('replicas that lead');
  private known = new Map<string, Known>();
  /** Monotonic, when a replica answered last. */
  private readonly heardAt = new Map<string, number>();
  private learntAt = 0;
  /** As of the rows. */
  private leaderRow: string | undefined;
  /** It leads already and cannot be reached yet. */
  isLeaderStarting = false;
  /** As it says itself, while the database does not answer here. */
  private followed: string | undefined;
  private lookingUp: Promise<void> | undefined;
  private lookedUpAt = -Infinity;

  constructor(
    private readonly control: ControlConnection,
    private readonly clock: Clock,
    @Inject(Env) env: Env,
  ) {
    this.url = env.MCP_AGGREGATOR_REPLICA_URL;
  }

  /** False with the embedded database, which has one process. */
  get isClustered(): boolean {
    return this.control.isNeeded;
  }

  get hasOthers(): boolean {
    return this.known.size > 0;
  }

  /** The replica that leads, if it is another one and can be reached; it is unknown while it is of an older version. */
  get leader(): Peer | undefined {
    return this.leaderId === undefined ? undefined : this.known.get(this.leaderId);
  }

  /** The other replicas that can be reached. */
  get others(): readonly Peer[] {
    return [...this.known.values()];
  }

  get(id: string): Peer | undefined {
    return this.known.get(id);
  }

  /** Asks the database for a replica that is not known here yet, such as one that has just started. */
  async find(id: string): Promise<Peer | undefined> {
    if (!this.isClustered || id === this.self) return undefined;
    const known = this.known.get(id);
    if (known) return known;
    if (this.clock.monotonic() - this.lookedUpAt >= LOOK_UP_EVERY_MS) {
      this.lookingUp ??= this.lookUp().finally(() => (this.lookingUp = undefined));
    }
    await this.lookingUp;
    return this.known.get(id);
  }

  /** A replica has answered. */
  heard(id: string): void {
    this.heardAt.set(id, this.clock.monotonic());
  }

  /** Whether a replica has answered just now. */
  isAwake(id: string): boolean {
    return this.answered(id, AWAKE_MS);
  }

  private answered(id: string, withinMs: number): boolean {
    const heardAt = this.heardAt.get(id);
    return heardAt !== undefined && this.clock.monotonic() - heardAt < withinMs;
  }

  /** Those that write no heartbeats: they are gone, or have lost the database alone. */
  get quiet(): readonly Peer[] {
    const now = this.clock.monotonic();
    return [...this.known.values()].filter(({ changedAt }) => now - changedAt > QUIET_MS);
  }

  /** Of another replica; undefined while none leads, or this one does. */
  get leaderId(): string | undefined {
    return this.followed ?? this.leaderRow;
  }

  /** Whether the database names a leader; a replica that has lost it alone is to get no new work. */
  get isLeaderInRows(): boolean {
    return this.leaderRow !== undefined;
  }

  /** Another replica says that it leads, while the database does not answer. */
  follow(id: string): void {
    if (id === this.leaderId) return;
    this.followed = id;
    void this.led.tell(id);
  }

  /** Called with the id of each replica that is gone. */
  onGone(listener: (id: string) => unknown): () => void {
    return this.went.hear(listener);
  }

  /** Called with the id of another replica that leads from now on. */
  onLeader(listener: (id: string) => unknown): () => void {
    return this.led.hear(listener);
  }

  /** What one heartbeat saw of the others, and who leads. */
  learn(rows: readonly PeerRow[], leaderId: string | undefined, isLeaderStarting = false): void {
    const now = this.clock.monotonic();
    const wasBlind = now - this.learntAt > BLIND_AFTER_MS;
    const next = new Map<string, Known>();
    for (const row of rows) {
      const known = this.known.get(row.id);
      const changedAt =
        known && known.seen === row.seen && !wasBlind
          ? known.changedAt
          : known
            ? now
            : now - Math.max(0, row.age_ms);
      const isThere = now - changedAt <= PEER_GONE_MS || this.answered(row.id, ANSWERS_MS);
      if (row.id !== this.self && isThere) {
        next.set(row.id, { id: row.id, url: row.url, seen: row.seen, changedAt });
      }
    }
    const gone = [...this.known.keys()].filter((id) => !next.has(id));
    for (const peer of next.values()) {
      if (!this.known.has(peer.id))
        this.logger.log({ replica: peer.id, url: peer.url }, 'replica.seen');
    }
    this.known = next;
    this.learntAt = now;
    const hasMoved = leaderId !== this.leaderId;
    this.leaderRow = leaderId;
    this.followed = undefined;
    this.isLeaderStarting = isLeaderStarting;
    for (const id of this.heardAt.keys()) if (!next.has(id)) this.heardAt.delete(id);
    for (const id of gone) {
      this.logger.log({ replica: id }, 'replica.gone');
      void this.went.tell(id);
    }
    if (hasMoved && leaderId !== undefined) void this.led.tell(leaderId);
  }

  /** The row of this process in a heartbeat. */
  get row(): readonly [id: string, url: string | null, protocol: number, version: string] {
    return [this.self, this.url ?? null, PEER_PROTOCOL, product.version];
  }

  private async lookUp(): Promise<void> {
    try {
      const rows = peerRows.parse(await this.control.query(LIVING_PEERS));
      for (const row of rows) {
        if (row.id === this.self || this.known.has(row.id) || row.age_ms > PEER_GONE_MS) continue;
        const changedAt = this.clock.monotonic() - Math.max(0, row.age_ms);
        this.known.set(row.id, { id: row.id, url: row.url, seen: row.seen, changedAt });
      }
      this.lookedUpAt = this.clock.monotonic();
    } catch (error) {
      this.logger.debug({ err: error }, 'replicas could not be looked up');
    }
  }
}
