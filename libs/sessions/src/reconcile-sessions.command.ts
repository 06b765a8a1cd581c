import { Inject, Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { Env } from '@app/platform';
import {
  ChangeServerStatus,
  GetServer,
  isServing,
  ListServers,
  type Server,
  ServerNotFound,
  type ServerStatus,
} from '@app/registry';
import { DRAIN_MS } from './disconnect-server.command.js';
import { Leadership } from './leadership.js';
import { SessionPool } from './session-pool.js';

/** When a server that was never connected was connected. */
const NEVER = 0;
const ASKED = { force: false, drainMs: DRAIN_MS };

/** Makes sessions be what the rows want, and rows say what sessions are: what events missed, this finds. */
export class ReconcileSessions extends Command<void> {}

@CommandHandler(ReconcileSessions)
export class ReconcileSessionsHandler implements ICommandHandler<ReconcileSessions> {
  private readonly logger = new Logger(ReconcileSessions.name);
  private running = false;

  constructor(
    private readonly pool: SessionPool,
    private readonly leadership: Leadership,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute(): Promise<void> {
    if (this.running || !this.env.MCP_AGGREGATOR_ENABLED) return;
    this.running = true;
    try {
      const leads = await this.leadership.refresh();
      const servers = await this.queries.execute(new ListServers());
      const known = new Set(servers.map(({ id }) => id));
      const unknown = this.pool.keptIds().filter((id) => !known.has(id));
      await Promise.all(unknown.map((id) => this.closeIfGone(id)));
      await Promise.all(servers.map((server) => this.compare(server, leads)));
    } finally {
      this.running = false;
    }
  }

  /** It may also be newer than the list. */
  private async closeIfGone(id: string): Promise<void> {
    try {
      await this.queries.execute(new GetServer(id));
    } catch (error) {
      if (!(error instanceof ServerNotFound)) throw error;
      this.close(id);
    }
  }

  private async compare(server: Server, leads: boolean): Promise<void> {
    if (leads) await this.lead(server);
    else this.follow(server);
  }

  private async lead(server: Server): Promise<void> {
    const { id, wanted, status } = server;
    const keeper = this.pool.keeper(id);
    if (!keeper) {
      if (wanted || isOutdated(status)) await this.begin(id);
      return;
    }
    const { changes } = keeper;
    if (!keeper.isSettled) return;
    // What was read before may have changed since; this has not, if no change was made meanwhile.
    const now = await this.queries.execute(new GetServer(id));
    if (!keeper.isSettled || keeper.changes !== changes) return;
    if (!now.wanted) return this.close(id);
    if (keeper.live && !isServing(now.status)) return this.reopen(now);
    if (!keeper.live && isServing(now.status)) await keeper.confess('the session is gone');
    // Nothing of ours is under way, so another process was asked to connect it.
    const isAskedFor = !keeper.live && now.status === 'CONNECTING';
    if (keeper.isIdle || isAskedFor) this.open(now);
  }

  /** A server that this process does not keep: what its row says is of a former life. */
  private async begin(id: string): Promise<void> {
    const server = await this.queries.execute(new GetServer(id));
    if (this.pool.keeper(id)) return;
    const { status, wanted } = server;
    if (isServing(status) || (isOutdated(status) && !wanted)) {
      const details = { reason: 'the process that had the session is gone' };
      await this.commands.execute(new ChangeServerStatus(id, 'disconnect', { details }));
    }
    if (wanted) this.open(server);
  }

  /** Another process leads: sessions of ours are only as old as its are. */
  private follow(server: Server): void {
    const keeper = this.pool.keeper(server.id);
    if (!keeper?.isSettled) return;
    const connectedAt = server.connectedAt?.getTime() ?? NEVER;
    keeper.basis ??= connectedAt;
    if (!server.wanted || keeper.basis !== connectedAt) this.close(server.id);
  }

  private open(server: Server): void {
    // A failure is in the row, and trying goes on.
    this.pool.open(server, { background: true, probe: true }).catch(() => undefined);
  }

  private reopen(server: Server): void {
    this.logger.log({ server: server.name, status: server.status }, 'the session is opened anew');
    void this.pool.close(server.id, ASKED).then(() => this.open(server));
  }

  private close(id: string): void {
    void this.pool.close(id, ASKED);
  }
}

/** Says that there is, or soon will be, a session. */
function isOutdated(status: ServerStatus): boolean {
  return isServing(status) || status === 'CONNECTING';
}
