import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus, EventBus } from '@nestjs/cqrs';
import { AuditStore, SYSTEM } from '@app/access';
import { SessionLost, SessionOpened, ToolListChanged } from '@app/events';
import type { ServerRequestHandler, UpstreamSession } from '@app/mcp';
import { Clock, Env, type JsonObject } from '@app/platform';
import {
  ChangeServerStatus,
  type Server,
  ServerNotFound,
  type ServerStatus,
  type StatusChange,
  type StatusSignal,
} from '@app/registry';
import { Leadership } from './leadership.js';
import { type CloseRequest, type KeeperWorld, SessionKeeper } from './session-keeper.js';
import { ServerUnavailable } from './sessions.errors.js';
import { Turnstile } from './turnstile.js';
import { UpstreamConnector } from './upstream-connector.js';

/** Connects that nobody waits for, at the same time: starting many programs at once starves the machine. */
const BACKGROUND_CONNECTS = 8;
/** A server that announces changes in a row is heard once. */
const COALESCE_MS = 200;

/** What the pool has to know about a server to keep it and to name it. */
export type KeptServer = Pick<Server, 'id' | 'name'>;

/** Asked for by a server, outside or inside a call. */
export type ServerQuestion = (
  serverId: string,
  ...question: Parameters<ServerRequestHandler>
) => ReturnType<ServerRequestHandler>;
export type ServerNotice = (serverId: string, method: string, params: JsonObject) => void;

interface Kept {
  readonly keeper: SessionKeeper;
  readonly server: KeptServer;
  closing?: Promise<void>;
}

/** The live sessions of this process: the only state of the connections that is not in the rows. */
@Injectable()
export class SessionPool {
  private readonly logger = new Logger(SessionPool.name);
  private readonly keepers = new Map<string, Kept>();
  /** Former sessions whose processes are still ending; the next one waits, they may share a port or a file. */
  private readonly going = new Map<string, Promise<void>>();
  private readonly line = new Turnstile(BACKGROUND_CONNECTS);
  private readonly noticeHandlers = new Set<ServerNotice>();
  private questionHandler: ServerQuestion | undefined;

  constructor(
    private readonly connector: UpstreamConnector,
    private readonly leadership: Leadership,
    private readonly commands: CommandBus,
    private readonly events: EventBus,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The live session, if there is one. */
  get(serverId: string): UpstreamSession | undefined {
    return this.keepers.get(serverId)?.keeper.live;
  }

  /**
   * The live session or, when it is gone, the outcome of one immediate attempt to open one, shared by
   * all who ask meanwhile. Throws ServerUnavailable.
   */
  async acquire(
    server: Pick<Server, 'id' | 'name' | 'status'>,
    withinMs: number,
  ): Promise<UpstreamSession> {
    const opening = this.keeperFor(server)?.wake();
    if (!opening) throw new ServerUnavailable(server);
    const giveUp = new AbortController();
    const tooLate = this.clock.sleep(withinMs, giveUp.signal).then(
      () => undefined,
      () => undefined,
    );
    try {
      const session = await Promise.race([opening, tooLate]);
      if (!session) throw new ServerUnavailable(server);
      return session;
    } catch (error) {
      throw error instanceof ServerUnavailable ? error : new ServerUnavailable(server, error);
    } finally {
      giveUp.abort();
    }
  }

  /** Keeps a server connected from now on; resolves with the first session, rejects when none came about at first. */
  async open(
    server: KeptServer,
    request: { background: boolean; probe: boolean },
  ): Promise<UpstreamSession> {
    const kept = this.keepers.get(server.id);
    if (kept?.closing) {
      await kept.closing;
      return this.open(server, request);
    }
    return this.keep(server).open(request);
  }

  /** Ends a session and stops keeping it. Resolves when the pending calls are over and the row says so. */
  async close(serverId: string, request: CloseRequest): Promise<void> {
    const kept = this.keepers.get(serverId);
    if (!kept) return;
    if (!request.force && !(await kept.keeper.drain(request.drainMs))) return;
    if (!kept.closing) {
      const { written, gone } = kept.keeper.end(request);
      kept.closing = written.then(() => this.forget(serverId, gone));
    }
    await kept.closing;
  }

  /** The session does not answer any more: it is closed and opened again as after a loss. */
  async reset(serverId: string, reason: string): Promise<void> {
    await this.keepers.get(serverId)?.keeper.drop(reason);
  }

  async closeAll(drainMs: number): Promise<void> {
    const ids = [...this.keepers.keys()];
    await Promise.all(ids.map((id) => this.close(id, { force: false, drainMs })));
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

  /** Whether this process connects unasked, checks health, and writes what state servers are in. */
  get leads(): boolean {
    return this.leadership.leads;
  }

  pending(serverId: string): number {
    return this.keepers.get(serverId)?.keeper.pending ?? 0;
  }

  logs(serverId: string): readonly string[] {
    return this.keepers.get(serverId)?.keeper.logs() ?? [];
  }

  /** Who answers what servers ask outside a call that has a handler of its own. */
  onServerQuestion(handler: ServerQuestion): void {
    this.questionHandler = handler;
  }

  /** What servers say unasked: changed lists and resources, log messages. */
  onServerNotice(handler: ServerNotice): () => void {
    this.noticeHandlers.add(handler);
    return () => this.noticeHandlers.delete(handler);
  }

  /** Where another process leads, ours connects when a call first needs it. */
  private keeperFor(server: KeptServer & { status: ServerStatus }): SessionKeeper | undefined {
    const kept = this.keepers.get(server.id);
    if (kept || this.leads || server.status === 'DISCONNECTED') return kept?.keeper;
    return this.keep(server);
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

  private worldOf(server: KeptServer): KeeperWorld {
    const { id } = server;
    return {
      clock: this.clock,
      healthIntervalS: this.env.MCP_AGGREGATOR_HEALTH_INTERVAL,
      random: Math.random,
      leads: () => this.leads,
      connect: async (request) => {
        await this.going.get(id);
        return this.connector.connect(id, request);
      },
      inLine: (work) => this.line.pass(work),
      signal: (signal, change) => this.signal(id, signal, change),
      opened: (session) => this.opened(id, session),
      lost: (reason) => this.events.publish(new SessionLost(id, reason)),
      refused: (reason) => void this.warn(server, reason),
    };
  }

  private opened(serverId: string, session: UpstreamSession): void {
    let announced: NodeJS.Timeout | undefined;
    session.onNotification((method, params) => {
      for (const handler of this.noticeHandlers) handler(serverId, method, params);
      if (method !== 'notifications/tools/list_changed' || announced) return;
      announced = setTimeout(() => {
        announced = undefined;
        this.events.publish(new ToolListChanged(serverId));
      }, COALESCE_MS).unref();
    });
    const ask = this.questionHandler;
    if (ask) session.setRequestHandler((...question) => ask(serverId, ...question));
    const announce = (): void => this.events.publish(new SessionOpened(serverId));
    session.onRenewal(announce);
    announce();
  }

  /** A row that cannot be written now is set right by the reconcile job. */
  private async signal(id: string, signal: StatusSignal, change?: StatusChange): Promise<void> {
    if (!this.leads) return;
    try {
      await this.commands.execute(new ChangeServerStatus(id, signal, change));
    } catch (error) {
      if (error instanceof ServerNotFound) return;
      this.logger.error({ serverId: id, signal, err: error }, 'status could not be written');
    }
  }

  private async warn(server: KeptServer, reason: string): Promise<void> {
    this.logger.warn({ server: server.name, reason }, 'credentials refused');
    try {
      await this.audit.record({
        event: 'server.credentials_refused',
        actor: SYSTEM,
        outcome: 'refused',
        server,
      });
    } catch (error) {
      this.logger.error({ err: error }, 'audit entry could not be written');
    }
  }
}
