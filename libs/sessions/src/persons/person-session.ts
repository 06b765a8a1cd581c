import type { Person } from '@app/access';
import type { PersonAccess } from '@app/authorization';
import { ConnectFailed, type UpstreamSession } from '@app/mcp-client';
import type { Clock } from '@app/platform';
import type { Server } from '@app/registry';
import { CallTurns } from '../keep/call-turns.js';
import type { KeptServer } from '../keep/session-pool.js';

/** How long credentials that were replaced or withdrawn at another replica may still be used. */
const TRUSTED_MS = 1_000;

/** The dependencies of a person's session, supplied by `PersonSessions`. */
export interface PersonSessionWorld {
  readonly clock: Clock;
  /** Throws ConnectionRequired. */
  access(): Promise<PersonAccess>;
  /** Of the credentials that may be used now. */
  generation(): Promise<string | undefined>;
  connect(access: PersonAccess, request: PersonConnect): Promise<UpstreamSession>;
  opened(session: UpstreamSession): void;
  /** Resolves when its calls have ended, or took too long. */
  drained(session: UpstreamSession): Promise<void>;
  /** It runs, or has to run, at another replica than it is to. */
  isMisplaced(session: UpstreamSession): boolean;
}

/** Pending calls may end first, are interrupted, or the program is not waited for either. */
export type Ending = 'drain' | 'now' | 'force';

export interface PersonConnect {
  readonly signal: AbortSignal;
  onRead(server: Pick<Server, 'connectionVersion'>): void;
}

/** What a request of a person goes through. */
export interface PersonTurn {
  readonly session: UpstreamSession;
  /** Of the credentials that the session was opened with. */
  readonly generation: string;
}

interface Live extends PersonTurn {
  checkedAt: number;
}

/**
 * The session of one person to one server: opened by a call, and again by the next one after it ended. Its end is no
 * news about the server, so it writes nothing.
 */
export class PersonSession {
  /** Monotonic. */
  usedAt: number;
  private live: Live | undefined;
  /** Of the row from which the last attempt read its configuration. */
  private connectionVersion: number | undefined;
  private opening: Promise<Live> | undefined;
  private checking: Promise<void> | undefined;
  /** The former session, whose process may use the same port or file as the next one. */
  private going: Promise<void> = Promise.resolve();
  private readonly life = new AbortController();
  private readonly turns: CallTurns;

  constructor(
    readonly server: KeptServer,
    readonly person: Person,
    private readonly world: PersonSessionWorld,
  ) {
    this.usedAt = world.clock.monotonic();
    this.turns = new CallTurns(world.clock, this.life.signal);
  }

  /** No call uses it, and none waits for it. */
  get isIdle(): boolean {
    return !this.opening && (this.live?.session.pending ?? 0) === 0;
  }

  get isLive(): boolean {
    return this.live !== undefined;
  }

  /** The live session, which is not opened for this. */
  get session(): UpstreamSession | undefined {
    return this.live?.session;
  }

  /** Of the credentials that it was opened with; undefined without a live session. */
  get generation(): string | undefined {
    return this.live?.generation;
  }

  /** The row has another configuration than the session was opened with. */
  isOutdated(connectionVersion: number): boolean {
    return this.connectionVersion !== undefined && this.connectionVersion < connectionVersion;
  }

  /** The live session, or one that is opened now, at most once a second. */
  async ready(): Promise<PersonTurn> {
    this.usedAt = this.world.clock.monotonic();
    const { live } = this;
    if (live) {
      await this.check(live);
      if (this.live === live) return live;
    }
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  /** For good. Withdrawn credentials are used no more; the last calls with replaced ones may end. */
  async closeReplaced(): Promise<void> {
    const generation = await this.world.generation().catch(() => undefined);
    await this.close(generation === undefined ? 'now' : 'drain');
  }

  /** For good. Resolves when its process has exited. */
  async close(how: Ending): Promise<void> {
    this.life.abort();
    this.end(how);
    await this.opening?.catch(() => undefined);
    await this.going;
  }

  private async check(live: Live): Promise<void> {
    if (this.world.isMisplaced(live.session)) return this.end('now');
    if (this.world.clock.monotonic() - live.checkedAt < TRUSTED_MS) return;
    this.checking ??= this.compare(live).finally(() => {
      this.checking = undefined;
    });
    await this.checking;
  }

  private async compare(live: Live): Promise<void> {
    const generation = await this.world.generation();
    if (generation !== live.generation)
      return this.end(generation === undefined ? 'now' : 'drain', live);
    live.checkedAt = this.world.clock.monotonic();
  }

  private async open(): Promise<Live> {
    // Before the turn: a person who has to connect first need not wait to hear it.
    const access = await this.world.access();
    await this.turns.next();
    await this.going;
    const session = await this.world.connect(access, {
      signal: this.life.signal,
      onRead: (server) => (this.connectionVersion = server.connectionVersion),
    });
    if (this.life.signal.aborted) {
      await session.close({ force: true });
      throw new ConnectFailed('it is no longer wanted');
    }
    const checkedAt = this.world.clock.monotonic();
    const live = { session, generation: access.generation, checkedAt };
    this.live = live;
    void session.closed.then(() => {
      if (this.live === live) this.live = undefined;
    });
    this.world.opened(session);
    return live;
  }

  private end(how: Ending, live = this.live): void {
    if (!live || this.live !== live) return;
    this.live = undefined;
    const { session } = live;
    const isDraining = how === 'drain' && session.pending > 0;
    const closing = isDraining
      ? this.world.drained(session).then(() => session.close({ force: session.pending > 0 }))
      : session.close({ force: how === 'force' });
    // A connection is in the way of no other.
    if (isDraining && session.address) return void closing.catch(() => undefined);
    this.going = Promise.all([this.going, closing]).then(
      () => undefined,
      () => undefined,
    );
  }
}
