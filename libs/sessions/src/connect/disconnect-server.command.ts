import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Clock, Replicas } from '@app/platform';
import { ChangeServerStatus, GetServer, isServing, type Server } from '@app/registry';
import { DRAIN_MS } from '../keep/drain-time.js';
import { SessionPool } from '../keep/session-pool.js';
import { PersonSessions } from '../persons/person-sessions.js';
import { DISCONNECT_FORCED } from '../reconcile/session-news.js';

const NOT_WANTED = { wanted: false };
const LEADER_WITHIN_MS = 1_000;
const ROW_CHECK_MS = 50;

export interface DisconnectOutcome {
  readonly serverId: string;
  readonly status: 'DISCONNECTED' | 'DISCONNECTING';
  readonly pendingRequests: number;
  readonly message: string;
}

/**
 * Sets a server to not wanted and closes its session. New calls are refused at once; pending calls drain unless
 * `force` is set.
 */
export class DisconnectServer extends Command<DisconnectOutcome> {
  constructor(
    readonly serverId: string,
    readonly force: boolean,
    /** How long to wait for pending calls before answering; 0 answers at once. */
    readonly waitMs: number,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(DisconnectServer)
export class DisconnectServerHandler implements ICommandHandler<DisconnectServer> {
  constructor(
    private readonly pool: SessionPool,
    private readonly people: PersonSessions,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly audit: AuditStore,
    private readonly clock: Clock,
    private readonly replicas: Replicas,
  ) {}

  async execute({ serverId, force, waitMs, actor }: DisconnectServer): Promise<DisconnectOutcome> {
    const server = await this.queries.execute(new GetServer(serverId));
    await this.audit.record({ event: 'server.disconnect', actor, server, details: { force } });
    const outcome = await (this.pool.leads
      ? this.lead(serverId, force, waitMs)
      : this.follow(server, force, waitMs));
    // After the row is written, which another replica reads before it cancels calls.
    if (force) await this.replicas.tell(DISCONNECT_FORCED, [serverId]);
    return outcome;
  }

  private async lead(serverId: string, force: boolean, waitMs: number): Promise<DisconnectOutcome> {
    if (!this.pool.isKept(serverId)) {
      await this.commands.execute(new ChangeServerStatus(serverId, 'disconnect', NOT_WANTED));
      return this.outcome(serverId, true);
    }
    const pending = force ? 0 : this.pool.pending(serverId);
    const closed = this.close(serverId, force);
    if (pending === 0) return this.outcome(serverId, await closed);
    await this.pool.statusWritten(serverId);
    return this.outcome(serverId, await this.within(waitMs, closed), pending);
  }

  /**
   * In a process that does not lead: the row tells the leading process, which writes the row again when its pending
   * calls have ended. It is given a moment to do so, because mostly none are pending.
   */
  private async follow(
    { id, status }: Server,
    force: boolean,
    waitMs: number,
  ): Promise<DisconnectOutcome> {
    const pending = this.pool.pending(id);
    const closed = this.close(id, force);
    const signal = !force && isServing(status) ? 'disconnecting' : 'disconnect';
    await this.commands.execute(new ChangeServerStatus(id, signal, NOT_WANTED));
    const decided = closed.then(() => this.isDecided(id, Math.max(waitMs, LEADER_WITHIN_MS)));
    const done = await this.within(Math.max(waitMs, LEADER_WITHIN_MS), decided);
    return this.outcome(id, done, pending);
  }

  private async isDecided(serverId: string, withinMs: number): Promise<boolean> {
    const until = this.clock.monotonic() + withinMs;
    for (;;) {
      const { status } = await this.queries.execute(new GetServer(serverId));
      if (status !== 'DISCONNECTING') return true;
      if (this.clock.monotonic() >= until) return false;
      await this.clock.sleep(ROW_CHECK_MS);
    }
  }

  /** False when `work` takes longer. */
  private async within(ms: number, work: Promise<boolean>): Promise<boolean> {
    const waited = new AbortController();
    const tooLong = this.clock.sleep(ms, waited.signal).then(
      () => false,
      () => false,
    );
    const done = await Promise.race([work, tooLong]);
    waited.abort();
    return done;
  }

  private async close(serverId: string, force: boolean): Promise<boolean> {
    // Their calls may end too, which this does not wait for.
    void this.people.close(serverId, undefined, force);
    await this.pool.close(serverId, { force, drainMs: DRAIN_MS, change: NOT_WANTED });
    return true;
  }

  /** `pending` are the calls of this process that ran when the request came. */
  private outcome(serverId: string, done: boolean, pending = 0): DisconnectOutcome {
    const pendingRequests = done ? 0 : pending;
    return {
      serverId,
      status: done ? 'DISCONNECTED' : 'DISCONNECTING',
      pendingRequests,
      message: done
        ? 'Server disconnected successfully'
        : `Waiting for ${pendingRequests} pending requests to complete`,
    };
  }
}
