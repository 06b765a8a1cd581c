import { Inject, Injectable, Logger } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type { Person } from '@app/access';
import { isConnectionRequired, PersonCredentials } from '@app/authorization';
import {
  AuthorizationFailed,
  AuthorizationNeeded,
  CredentialsRefused,
  type UpstreamSession,
} from '@app/mcp-client';
import { Clock, Env } from '@app/platform';
import { GetServer, isWithdrawn, refuseIfDisabled, type Server } from '@app/registry';
import { DRAIN_MS } from '../keep/drain-time.js';
import { ServerFolders } from '../connect/server-folders.js';
import { UpstreamConnector } from '../connect/upstream-connector.js';
import { SessionPool } from '../keep/session-pool.js';
import { StdioPlace } from '../pass/stdio-place.js';
import { ServerUnavailable, TooManyPeople } from '../sessions.errors.js';
import { type Ending, PersonSession, type PersonTurn } from './person-session.js';

const IDLE_CHECK_MS = 100;

/**
 * Sessions on behalf of single people, for servers that are called with credentials of the person. Shared sessions are
 * those of `SessionPool`; no call gets the session of another person or the shared one instead.
 */
@Injectable()
export class PersonSessions {
  private readonly logger = new Logger('sessions');
  /** The least recently used first. */
  private readonly sessions = new Map<string, PersonSession>();
  /** Former sessions whose processes are still exiting: the next one of that person waits. */
  private readonly going = new Map<string, Promise<void>>();
  private isStopping = false;
  /** Servers of which folders are being removed: processes start afterwards. */
  private readonly sweeps = new Map<string, Promise<void>>();

  constructor(
    private readonly queries: QueryBus,
    private readonly credentials: PersonCredentials,
    private readonly connector: UpstreamConnector,
    private readonly pool: SessionPool,
    private readonly stdio: StdioPlace,
    private readonly folders: ServerFolders,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  get size(): number {
    return this.sessions.size;
  }

  /**
   * The session of that person, opened if there is none, within `withinMs`. Throws ConnectionRequired when the person
   * has to give credentials first, ServerUnavailable, TooManyPeople or AggregatorDisabled.
   */
  async acquire(server: CalledServer, person: Person, withinMs: number): Promise<PersonTurn> {
    refuseIfDisabled(this.env, server);
    // The status says so also while the shared session is replaced.
    if (isWithdrawn(server.status) && !(await this.isWanted(server.id))) {
      throw new ServerUnavailable(server);
    }
    const giveUp = new AbortController();
    const tooLate = this.clock.sleep(withinMs, giveUp.signal).then(
      () => undefined,
      () => undefined,
    );
    try {
      const turn = await Promise.race([this.ready(server, person), tooLate]);
      if (!turn) throw new ServerUnavailable(server);
      return turn;
    } catch (error) {
      const isTold = error instanceof ServerUnavailable || error instanceof TooManyPeople;
      if (isTold || isConnectionRequired(error)) throw error;
      throw new ServerUnavailable(server, error);
    } finally {
      giveUp.abort();
    }
  }

  /**
   * What the person is told when a server refused a request of theirs; the error itself if that has another cause.
   * `generation`: of the credentials that were refused, which may have been replaced meanwhile.
   */
  async explained(
    server: CalledServer,
    person: Person,
    generation: string,
    error: unknown,
  ): Promise<unknown> {
    if (!isRefusal(error)) return error;
    return this.credentials.refused(server, person, generation, error);
  }

  /**
   * Ends the session of a person whose credentials changed: at once when they were withdrawn; the last calls with those
   * that were replaced may end. Without any, what its process has kept of them goes too; a next session waits for that.
   */
  async changed(serverId: string, subject: string): Promise<void> {
    const key = keyOf(serverId, { subject });
    const session = this.sessions.get(key);
    if (session) this.sessions.delete(key);
    await this.leave(key, async () => {
      await session?.closeReplaced();
      await this.forget(serverId, subject);
    });
  }

  /** Ends sessions with credentials that were replaced or withdrawn, at whichever replica that was done. */
  async closeReplaced(serverId: string): Promise<void> {
    const held = new Map<string, string>();
    for (const { server, person, generation } of this.sessions.values()) {
      if (server.id === serverId && generation !== undefined) held.set(person.subject, generation);
    }
    const outdated = await this.credentials.outdated(serverId, held);
    // Meanwhile a call may have opened a session with the new ones.
    const still = outdated.filter(
      (subject) =>
        this.sessions.get(keyOf(serverId, { subject }))?.generation === held.get(subject),
    );
    await Promise.all(still.map((subject) => this.changed(serverId, subject)));
  }

  /** Removes what processes have kept of people who have no credentials any more, such as before a restart. */
  async sweep(serverId: string): Promise<void> {
    const before = this.sweeps.get(serverId);
    const sweep = Promise.resolve(before).then(() =>
      this.folders.keepOnly(serverId, async () => [
        ...this.subjectsAt(serverId),
        ...(await this.credentials.givenFor(serverId)),
      ]),
    );
    const done = sweep.catch(() => undefined);
    this.sweeps.set(serverId, done);
    void done.then(() => {
      if (this.sweeps.get(serverId) === done) this.sweeps.delete(serverId);
    });
    await sweep;
  }

  /** Ends the sessions of all people to a server, or of one. */
  async close(serverId: string, subject?: string, force = false): Promise<void> {
    const ended = [...this.sessions].filter(
      ([, { server, person }]) =>
        server.id === serverId && (subject === undefined || person.subject === subject),
    );
    const how = force ? 'force' : 'drain';
    await Promise.all(ended.map(([key, session]) => this.end(key, session, how)));
  }

  async closeAll(): Promise<void> {
    this.isStopping = true;
    await Promise.all([...this.sessions].map(([key, session]) => this.end(key, session, 'force')));
  }

  /** Ends sessions that no call has used for a while. */
  async closeIdle(): Promise<void> {
    const before = this.clock.monotonic() - this.env.MCP_AGGREGATOR_PERSON_SESSION_IDLE * 1_000;
    const idle = [...this.sessions].filter(([, one]) => one.usedAt <= before && one.isIdle);
    await Promise.all(idle.map(([key, session]) => this.end(key, session, 'now')));
  }

  /** The live sessions of a person, by server. */
  of(subject: string): ReadonlyMap<string, UpstreamSession> {
    const live = new Map<string, UpstreamSession>();
    for (const { server, person, session } of this.sessions.values()) {
      if (person.subject === subject && session) live.set(server.id, session);
    }
    return live;
  }

  serverIds(): readonly string[] {
    return [...new Set([...this.sessions.values()].map(({ server }) => server.id))];
  }

  /** Ends those that were opened with another configuration than this version of the row has. */
  async closeOutdated(serverId: string, connectionVersion: number): Promise<void> {
    const outdated = [...this.sessions].filter(
      ([, one]) => one.server.id === serverId && one.isOutdated(connectionVersion),
    );
    await Promise.all(outdated.map(([key, session]) => this.end(key, session, 'drain')));
  }

  private async ready(server: CalledServer, person: Person): Promise<PersonTurn> {
    // Who has no credentials takes no place of those who have.
    if (!this.sessions.has(keyOf(server.id, person))) {
      await this.credentials.accessOf(server, person);
    }
    return this.sessionOf(server, person).ready();
  }

  /** Of sessions that are open, are opened, or still end. */
  private subjectsAt(serverId: string): readonly string[] {
    const place = `${serverId} `;
    return [...this.sessions.keys(), ...this.going.keys()]
      .filter((key) => key.startsWith(place))
      .map((key) => key.slice(place.length));
  }

  private async isWanted(serverId: string): Promise<boolean> {
    return (await this.queries.execute(new GetServer(serverId))).wanted;
  }

  private sessionOf(server: CalledServer, person: Person): PersonSession {
    const key = keyOf(server.id, person);
    const kept = this.sessions.get(key);
    if (kept) {
      this.sessions.delete(key);
      this.sessions.set(key, kept);
      return kept;
    }
    this.makeRoom(server);
    const session = new PersonSession(server, person, {
      clock: this.clock,
      access: () => this.credentials.accessOf(server, person),
      generation: () => this.credentials.generation(server, person),
      connect: async (access, request) => {
        await this.going.get(key);
        await this.sweeps.get(server.id);
        try {
          const asked = { ...request, probe: false, onLogLine: () => undefined };
          return await this.connector.connect(server.id, asked, access);
        } catch (error) {
          // While connecting, a 403 with a challenge is about the credentials too.
          if (!(error instanceof CredentialsRefused) || !error.wantsOthers) throw error;
          throw await this.credentials.refused(server, person, access.generation, error);
        }
      },
      opened: (opened) => this.pool.hearPerson(server.id, opened, person),
      drained: (leaving) => this.drained(leaving),
      isMisplaced: (live) => this.stdio.hasMoved(live),
    });
    this.sessions.set(key, session);
    return session;
  }

  /** Ends the least recently used idle sessions that exceed a limit, those without a live one first. Throws TooManyPeople when all are in use. */
  private makeRoom(server: CalledServer): void {
    const {
      MCP_AGGREGATOR_PERSON_SESSIONS: max,
      MCP_AGGREGATOR_PERSON_SESSIONS_PER_SERVER: maxOfServer,
    } = this.env;
    const ofServer = [...this.sessions].filter(([, one]) => one.server.id === server.id);
    if (ofServer.length >= maxOfServer) this.evictFrom(ofServer, server);
    if (this.sessions.size >= max) this.evictFrom([...this.sessions], server);
  }

  private evictFrom(
    candidates: readonly (readonly [string, PersonSession])[],
    server: CalledServer,
  ): void {
    const idle = candidates.filter(([, one]) => one.isIdle);
    const [key, session] = idle.find(([, one]) => !one.isLive) ?? idle[0] ?? [];
    if (key === undefined || !session) throw new TooManyPeople(server);
    void this.end(key, session, 'now');
  }

  private async drained(session: UpstreamSession): Promise<void> {
    const until = this.clock.monotonic() + DRAIN_MS;
    while (session.pending > 0 && this.clock.monotonic() < until && !this.isStopping) {
      await this.clock.sleep(IDLE_CHECK_MS);
    }
  }

  private async end(key: string, session: PersonSession, how: Ending): Promise<void> {
    if (this.sessions.get(key) === session) this.sessions.delete(key);
    await this.leave(key, () => session.close(how));
  }

  private async forget(serverId: string, subject: string): Promise<void> {
    try {
      if (await this.credentials.areGiven(serverId, { subject })) return;
      await this.folders.removeOf(serverId, { subject });
    } catch (error) {
      this.logger.warn({ err: error, server_id: serverId }, 'session.folder_not_removed');
    }
  }

  private async leave(key: string, work: () => Promise<void>): Promise<void> {
    const going = Promise.all([this.going.get(key), work()]).then(() => undefined);
    this.going.set(key, going);
    await going.finally(() => {
      if (this.going.get(key) === going) this.going.delete(key);
    });
  }
}

type CalledServer = Pick<Server, 'id' | 'name' | 'status' | 'credentials'>;

/** Ids of servers all have the same length. */
function keyOf(serverId: string, { subject }: Pick<Person, 'subject'>): string {
  return `${serverId} ${subject}`;
}

/** The credentials themselves, not one operation: a new key or consent is needed. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof AuthorizationNeeded ||
    error instanceof AuthorizationFailed ||
    (error instanceof CredentialsRefused && error.httpStatus === 401)
  );
}
