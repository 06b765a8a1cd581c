import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import { AuditStore, type Person, SYSTEM } from '@app/access';
import { SessionOpened } from '@app/events';
import type { RootsProvider, UpstreamSession } from '@app/mcp-client';
import { Clock, Env, Leadership, NotLeading, Signals, Tracing, within } from '@app/platform';
import {
  ChangeServerStatus,
  isWithdrawn,
  refuseIfDisabled,
  type Server,
  ServerNotFound,
  type StatusChange,
  type StatusSignal,
} from '@app/registry';

import {
  type CloseRequest,
  type KeeperDependencies,
  type OpenRequest,
  SessionKeeper,
} from './session-keeper.js';
import { ServerUnavailable } from '../sessions.errors.js';
import { ConcurrencyLimit } from './concurrency-limit.js';
import { type ServerNotice, ServerNotices } from './server-notices.js';
import { UpstreamConnector } from '../connect/upstream-connector.js';

/** Concurrent background connects: starting many programs at once starves the machine of CPU. */
const BACKGROUND_CONNECTS = 8;
/** How long an error waits for the status that it names to be written. */
const STATUS_WITHIN_MS = 1_000;

/** What the pool keeps of a server. */
export type KeptServer = Pick<Server, 'id' | 'name'>;

/** `person`: of whom the session is; else `user` is who has used it. */
export type ServerRoots = (
  serverId: string,
  user: Parameters<RootsProvider>[0],
  person?: Person,
) => ReturnType<RootsProvider>;

type CalledServer = Pick<Server, 'id' | 'name' | 'status'>;

interface Kept {
  readonly keeper: SessionKeeper;
  readonly server: KeptServer;
  closing?: Promise<void>;
  /** Resolves when the session is closed; the next one is opened right after. */
  replacing?: Promise<void>;
  /** Resolves when the listeners of the last `SessionOpened` have finished. */
  told?: Promise<void>;
}

/** The live sessions of this process: the only connection state that is not in the database. */
@Injectable()
export class SessionPool {
  private readonly logger = new Logger(SessionPool.name);
  private readonly keepers = new Map<string, Kept>();
  /**
   * Former sessions whose processes are still exiting. The next session waits, because it may use the same port or
   * file.
   */
  private readonly going = new Map<string, Promise<void>>();
  private readonly line = new ConcurrencyLimit(BACKGROUND_CONNECTS);
  private readonly notices: ServerNotices;
  private rootsProvider: ServerRoots | undefined;
  private isHeard: (serverId?: string) => boolean = () => false;

  constructor(
    private readonly connector: UpstreamConnector,
    private readonly leadership: Leadership,
    private readonly commands: CommandBus,
    private readonly signals: Signals,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
    private readonly tracing: Tracing,
    @Inject(Env) private readonly env: Env,
  ) {
    this.notices = new ServerNotices(clock, signals);
  }

  /** The live session, if there is one. */
  get(serverId: string): UpstreamSession | undefined {
    return this.keepers.get(serverId)?.keeper.live;
  }

  /**
   * The live session or, without one, the outcome of an attempt to open it, within `withinMs`. Concurrent callers
   * share the attempt (contract R41). Throws ServerUnavailable or AggregatorDisabled.
   */
  async acquire(server: CalledServer, withinMs: number): Promise<UpstreamSession> {
    this.refuseIfDisabled(server);
    const giveUp = new AbortController();
    const tooLate = this.clock.sleep(withinMs, giveUp.signal).then(
      () => undefined,
      () => undefined,
    );
    try {
      const session = await Promise.race([this.opening(server), tooLate]);
      if (!session) throw new ServerUnavailable(server);
      return session;
    } catch (error) {
      throw error instanceof ServerUnavailable ? error : new ServerUnavailable(server, error);
    } finally {
      giveUp.abort();
    }
  }

  /**
   * Keeps a server connected from now on. Resolves with the first session; rejects when the first attempts fail,
   * while retries continue.
   */
  async open(
    server: KeptServer,
    request: Omit<OpenRequest, 'attempts'> & Partial<OpenRequest>,
  ): Promise<UpstreamSession> {
    this.refuseIfDisabled(server);
    const kept = this.keepers.get(server.id);
    if (kept?.closing) {
      await kept.closing;
      // Closing changed the status to DISCONNECTED, so CONNECTING has to be written again.
      return this.open(server, { ...request, isAnnounced: false, isServing: false });
    }
    const keeper = this.keep(server);
    const wasLeaving = keeper.isLeaving;
    const session = await keeper.open(request);
    // The row has a new time of connecting, by which its tools have not been read.
    if (wasLeaving) this.announce(server.id);
    return session;
  }

  /** Resolves when the tools of the server have been discovered, or discovery has failed. */
  async isReady(serverId: string): Promise<void> {
    await this.keepers.get(serverId)?.told;
  }

  /** Throws AggregatorDisabled when the settings disable all servers. */
  refuseIfDisabled(server: KeptServer & Partial<CalledServer>): void {
    refuseIfDisabled(this.env, server);
  }

  /** Closes a session and removes its keeper. Resolves when pending calls have ended and the row is updated. */
  async close(serverId: string, request: CloseRequest): Promise<void> {
    const kept = this.keepers.get(serverId);
    if (!kept) return;
    const drained = request.force || (await kept.keeper.drain(request));
    if (!drained) return;
    if (!kept.closing) {
      const { written, gone } = kept.keeper.end(request);
      kept.closing = written.then(() => this.forget(serverId, gone));
    }
    await kept.closing;
  }

  /** Keeps a live session of which the row says that there is none; its tools are discovered as those of a new one. */
  async adopt({ id, status }: Pick<Server, 'id' | 'status'>): Promise<void> {
    await this.keeper(id)?.reportSession(status === 'CONNECTING');
    if (this.get(id)) this.announce(id);
  }

  /**
   * Closes a session that will be opened again right after: calls wait for that one. `isMove`: at another replica, so
   * that it is no news about the server.
   */
  async replace(serverId: string, drainMs: number, isMove = false): Promise<void> {
    const status = isMove ? ('DISCONNECTED' as const) : undefined;
    const replacing = this.close(serverId, { force: drainMs === 0, drainMs, status });
    const kept = this.keepers.get(serverId);
    if (kept) kept.replacing = replacing;
    await replacing;
  }

  /**
   * Resolves when the status changes of the server up to now are in its row and in the catalogue, or after a second:
   * an error that names the status must not wait for a database that hangs.
   */
  async statusWritten(serverId: string): Promise<void> {
    const keeper = this.keeper(serverId);
    if (keeper) await within(this.clock, STATUS_WITHIN_MS, settled(keeper));
  }

  /** Resolves when the processes of former sessions have exited. */
  async gone(serverId: string): Promise<void> {
    await this.going.get(serverId);
  }

  /** Closes a session that no longer answers and reconnects as after a loss. */
  async reset(serverId: string, reason: string): Promise<void> {
    await this.keepers.get(serverId)?.keeper.drop(reason);
  }

  async closeAll(drainMs: number): Promise<void> {
    const ids = [...this.keepers.keys()];
    const reason = 'the service stopped';
    await Promise.all(ids.map((id) => this.close(id, { force: false, drainMs, reason })));
    await Promise.all(this.going.values());
  }

  isKept(serverId: string): boolean {
    return this.keepers.has(serverId);
  }

  keptIds(): readonly string[] {
    return [...this.keepers.keys()];
  }

  keeper(serverId: string): SessionKeeper | undefined {
    return this.keepers.get(serverId)?.keeper;
  }

  /** Whether this process leads: it connects in the background, checks health and writes the status of servers. */
  get leads(): boolean {
    return this.leadership.leads;
  }

  pending(serverId: string): number {
    return this.keepers.get(serverId)?.keeper.pending ?? 0;
  }

  logs(serverId: string): readonly string[] {
    return this.keepers.get(serverId)?.keeper.logs() ?? [];
  }

  /** Sets the handler for `roots/list` requests that servers send outside of a call. */
  setRootsProvider(provider: ServerRoots): void {
    this.rootsProvider = provider;
  }

  /**
   * Sets who says whether clients of this process wait for messages of a server, or of any, for which a session is kept
   * open.
   */
  setAudience(isHeard: (serverId?: string) => boolean): void {
    this.isHeard = isHeard;
  }

  hasAudience(serverId: string): boolean {
    return this.isHeard(serverId);
  }

  /** Whether this process keeps no session, and no client waits for messages of a server. */
  get isUnused(): boolean {
    return this.keepers.size === 0 && !this.isHeard();
  }

  /** Notifications that servers send outside of calls: changed lists and resources, log messages. */
  onServerNotice(handler: ServerNotice): () => void {
    return this.notices.hear(handler);
  }

  /** A session on behalf of one person: what it says outside of calls concerns that person alone, and no list. */
  hearPerson(serverId: string, session: UpstreamSession, person: Person): void {
    session.onNotification((method, params) => {
      const isForUser = method === 'notifications/message' || method.includes('elicitation');
      if (isForUser) this.notices.receive(serverId, method, params, person.subject);
    });
    const roots = this.rootsProvider;
    if (roots) session.setRootsProvider((user) => roots(serverId, user, person));
  }

  /** Undefined when no attempt is due. */
  private async opening(server: CalledServer): Promise<UpstreamSession | undefined> {
    await this.keepers.get(server.id)?.replacing;
    // At the start of the service and without leadership, the first call that needs the server creates its keeper.
    const keeper = isWithdrawn(server.status) ? this.keeper(server.id) : this.keep(server);
    return keeper?.wake();
  }

  private keep(server: KeptServer): SessionKeeper {
    const kept = this.keepers.get(server.id) ?? {
      keeper: new SessionKeeper(this.worldOf(server)),
      server,
    };
    this.keepers.set(server.id, kept);
    return kept.keeper;
  }

  private forget(serverId: string, gone: Promise<void>): void {
    this.keepers.delete(serverId);
    const going = Promise.all([this.going.get(serverId), gone]).then(() => undefined);
    this.going.set(serverId, going);
    void going.finally(() => {
      if (this.going.get(serverId) === going) this.going.delete(serverId);
    });
  }

  private worldOf(server: KeptServer): KeeperDependencies {
    const { id } = server;
    return {
      clock: this.clock,
      healthIntervalS: this.env.MCP_AGGREGATOR_HEALTH_INTERVAL,
      random: Math.random,
      leads: () => this.leads,
      connect: async (request) => {
        await this.going.get(id);
        return this.tracing.work('connect server', ['switchboard.server', server.name], () =>
          this.connector.connect(id, request),
        );
      },
      inLine: (work, hurry) => this.line.pass(work, hurry),
      signal: (signal, change) => this.signal(id, signal, change),
      opened: (session) => this.opened(id, session),
      lost: (reason) => this.lost(server, reason),
      refused: (reason) => void this.warn(server, reason),
    };
  }

  private opened(serverId: string, session: UpstreamSession): void {
    session.onNotification((...notice) => this.notices.receive(serverId, ...notice));
    const roots = this.rootsProvider;
    if (roots) session.setRootsProvider((user) => roots(serverId, user));
    session.onRenewal(() => this.announce(serverId));
    this.announce(serverId);
  }

  private announce(serverId: string): void {
    const told = this.signals.tell(new SessionOpened(serverId));
    const kept = this.keepers.get(serverId);
    if (kept) kept.told = told;
  }

  /** Logged only without leadership; the leader logs the status change. */
  private lost(server: KeptServer, reason: string): void {
    if (!this.leads)
      this.logger.log({ server: server.name, server_id: server.id, reason }, 'session.lost');
  }

  /** If the write fails, the reconcile job corrects the row later. */
  private async signal(id: string, signal: StatusSignal, change?: StatusChange): Promise<void> {
    if (!this.leads) return;
    try {
      await this.commands.execute(new ChangeServerStatus(id, signal, change, true));
    } catch (error) {
      if (error instanceof ServerNotFound || error instanceof NotLeading) return;
      this.logger.error({ server_id: id, signal, err: error }, 'server.status_not_written');
    }
  }

  private async warn(server: KeptServer, reason: string): Promise<void> {
    this.logger.warn(
      { server: server.name, server_id: server.id, reason },
      'server.credentials_refused',
    );
    try {
      await this.audit.record({
        event: 'server.credentials_refused',
        actor: SYSTEM,
        outcome: 'refused',
        server,
      });
    } catch (error) {
      this.logger.error({ err: error }, 'audit.write_failed');
    }
  }
}

async function settled(keeper: SessionKeeper): Promise<void> {
  await keeper.live?.verified;
  // The keeper learns of the end of a session in a microtask.
  await new Promise(setImmediate);
  await keeper.status.done;
}
