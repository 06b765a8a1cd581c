import { Inject, Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import type { UpstreamSession } from '@app/mcp-client';
import { CoalescedRuns, Env, Leadership } from '@app/platform';
import {
  ChangeServerStatus,
  GetServer,
  isServing,
  ListServers,
  type Server,
  ServerNotFound,
  type ServerStatus,
  unlessRemoved,
} from '@app/registry';
import { DRAIN_MS } from '../keep/drain-time.js';
import { CloseWithdrawnSessions } from './close-withdrawn-sessions.command.js';
import { ServerFolders } from '../connect/server-folders.js';
import type { SessionKeeper } from '../keep/session-keeper.js';
import { StdioPlace } from '../pass/stdio-place.js';
import { PassedSession } from '../pass/passed-session.js';
import { SessionPool } from '../keep/session-pool.js';

const ASKED = { force: false, drainMs: DRAIN_MS };

/**
 * Brings sessions in line with the wanted servers, and the status in the rows in line with the sessions. Repairs
 * what a lost event left different.
 */
export class ReconcileSessions extends Command<void> {
  constructor(
    /** Empty for all. */
    readonly serverIds: readonly string[] = [],
  ) {
    super();
  }
}

@CommandHandler(ReconcileSessions)
export class ReconcileSessionsHandler implements ICommandHandler<ReconcileSessions> {
  private readonly logger = new Logger(ReconcileSessions.name);
  private readonly runs = new CoalescedRuns();
  /** Whether folders left behind by a killed process have been removed. */
  private swept = false;
  /** Whether this process led from its start with no other beside it: sessions in the rows were of one that ended. */
  private startedAlone = false;

  constructor(
    private readonly pool: SessionPool,
    private readonly leadership: Leadership,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly folders: ServerFolders,
    private readonly stdio: StdioPlace,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ serverIds }: ReconcileSessions): Promise<void> {
    if (!this.env.MCP_AGGREGATOR_ENABLED) return;
    if (serverIds.length === 0) return this.runs.run('all', () => this.compareAll());
    await Promise.all(serverIds.map((id) => this.runs.run(id, () => this.compareOne(id))));
  }

  private async compareOne(id: string): Promise<void> {
    const [server] = await this.queries.execute(new ListServers({ ids: [id] }));
    if (!server) return this.pool.isKept(id) ? this.closeIfGone(id) : undefined;
    const keeper = this.pool.keeper(id);
    const isConnectedAgain = server.wanted && !keeper?.isOutdated(server.connectionVersion);
    if (keeper?.isLeaving && keeper.status.areDone && isConnectedAgain) this.open(server);
    else await this.compare(server, this.leadership.leads);
  }

  private async compareAll(): Promise<void> {
    const { leads } = this.leadership;
    // The rows of servers say nothing to a process without sessions, unless it leads.
    if (this.swept && !leads && this.pool.isUnused) return;
    // Read the folders before the rows: otherwise the folder of a server registered in between would be removed.
    const folders = this.swept ? [] : await this.folders.ids();
    const servers = await this.queries.execute(new ListServers());
    const known = new Set(servers.map(({ id }) => id));
    await Promise.all(folders.filter((id) => !known.has(id)).map((id) => this.folders.remove(id)));
    this.startedAlone = !this.swept && leads && (await this.leadership.isAlone());
    this.swept = true;
    const unknown = this.pool.keptIds().filter((id) => !known.has(id));
    await Promise.all(unknown.map((id) => this.closeIfGone(id)));
    await Promise.all(servers.map((server) => this.compare(server, leads)));
  }

  /** Reads the row again, because the server may have been registered after the list was read. */
  private async closeIfGone(id: string): Promise<void> {
    try {
      await this.queries.execute(new GetServer(id));
    } catch (error) {
      if (!(error instanceof ServerNotFound)) throw error;
      void this.pool
        .close(id, ASKED)
        .then(() => this.pool.gone(id))
        .then(() => this.folders.remove(id))
        .catch((error: unknown) => this.failed(id, error));
    }
  }

  private async compare(server: Server, leads: boolean): Promise<void> {
    const live = this.pool.keeper(server.id)?.live;
    if (live && this.stdio.isMisplaced(server, live)) this.move(server, live);
    else if (leads) await unlessRemoved(() => this.lead(server));
    else this.follow(server);
  }

  private async lead(server: Server): Promise<void> {
    const { id, wanted, status } = server;
    const keeper = this.pool.keeper(id);
    if (!keeper) {
      if (wanted || isOutdated(status)) await this.begin(id);
      return;
    }
    const { count } = keeper.status;
    if (!keeper.hasNoPendingWrites || agree(server, keeper)) return;
    // Read the row again; use it only if the keeper has made no status change in the meantime.
    const now = await this.queries.execute(new GetServer(id));
    if (!keeper.hasNoPendingWrites || keeper.status.count !== count) return;
    if (!now.wanted) return this.close(now);
    if (keeper.live && keeper.isOutdated(now.connectionVersion)) return this.reopen(now);
    if (keeper.live && !isServing(now.status)) return this.pool.adopt(now);
    if (keeper.isIdle) return this.open(now);
    if (!keeper.live && isServing(now.status))
      await keeper.reportMissingSession('the session is gone');
    // No attempt of this process is in progress, so another process set CONNECTING to request a connect.
    const isAskedFor = !keeper.live && now.status === 'CONNECTING';
    if (isAskedFor) this.open(now);
  }

  /** For a server without a keeper in this process: its status was written by another process. */
  private async begin(id: string): Promise<void> {
    const server = await this.queries.execute(new GetServer(id));
    if (this.pool.keeper(id)) return;
    const { status, wanted } = server;
    const isGone = wanted ? isServing(status) && this.startedAlone : isOutdated(status);
    if (isGone) {
      const details = { reason: 'the process that had the session is gone' };
      await this.commands.execute(new ChangeServerStatus(id, 'disconnect', { details }, true));
    }
    if (wanted) this.open(isGone ? { ...server, status: 'DISCONNECTED' } : server);
  }

  /** For a process that does not lead: close a session with another configuration, or one that is not wanted. */
  private follow(server: Server): void {
    const keeper = this.pool.keeper(server.id);
    const isMissing = keeper ? keeper.isIdle : true;
    // Its clients would hear nothing until the next call.
    if (
      isMissing &&
      server.wanted &&
      isServing(server.status) &&
      this.pool.hasAudience(server.id)
    ) {
      return this.open(server);
    }
    if (!keeper?.hasNoPendingWrites) return;
    if (!server.wanted) this.close(server);
    else if (keeper.isOutdated(server.connectionVersion))
      void this.pool.replace(server.id, DRAIN_MS);
  }

  /**
   * A server that serves according to the row may do so at other replicas: the row stays as it is, unless connecting
   * fails here.
   */
  private open(server: Server): void {
    const request = isServing(server.status)
      ? { isServing: true, attempts: 1 }
      : { isAnnounced: server.status === 'CONNECTING' };
    // A failure is written to the row, and retries continue.
    this.pool.open(server, { background: true, probe: true, ...request }).catch(() => undefined);
  }

  /** The rows say nothing about where a server runs. The leader opens its own session, others with the next call. */
  private move({ id }: Server, session: UpstreamSession): void {
    this.ended(id, session)
      .then(() => this.execute(new ReconcileSessions([id])))
      .catch((error: unknown) => this.failed(id, error));
  }

  /** Another process of the server has to wait until the one that runs here has ended; a session elsewhere has not. */
  private async ended(id: string, session: UpstreamSession): Promise<void> {
    if (!(session instanceof PassedSession)) return this.pool.replace(id, DRAIN_MS, true);
    session.leave();
    await session.closed;
  }

  private reopen(server: Server): void {
    this.logger.log(
      { server: server.name, server_id: server.id, status: server.status },
      'session.reopened',
    );
    const closed = { ...server, status: 'DISCONNECTED' } as const;
    void this.pool.replace(server.id, DRAIN_MS).then(() => this.open(closed));
  }

  private close({ id, wanted }: Server): void {
    if (wanted) return;
    this.commands
      .execute(new CloseWithdrawnSessions([id]))
      .catch((error: unknown) => this.failed(id, error));
  }

  /** The next comparison tries again. */
  private failed(id: string, error: unknown): void {
    this.logger.error({ server_id: id, err: error }, 'session.not_reconciled');
  }
}

/** Whether nothing is to be done for a server. */
function agree({ wanted, status, connectionVersion }: Server, keeper: SessionKeeper): boolean {
  if (keeper.live) return wanted && isServing(status) && !keeper.isOutdated(connectionVersion);
  return wanted && !keeper.isIdle && !isServing(status) && status !== 'CONNECTING';
}

/** Whether the status claims a session: opening, open or closing. */
function isOutdated(status: ServerStatus): boolean {
  return isServing(status) || status === 'CONNECTING' || status === 'DISCONNECTING';
}
