import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { Interval, SchedulerRegistry } from '@nestjs/schedule';
import { Env } from '@app/platform';
import { GetServer, ServerNotFound } from '@app/registry';
import { ServerFolders } from '../connect/server-folders.js';
import { PersonSessions } from './person-sessions.js';

const NAME = 'end-person-sessions';
const EVERY_MS = 5_000;
/** For folders without a session: those of a replica that led before, or was killed. */
const SWEEP_EVERY_MS = 300_000;

/**
 * Ends sessions of people that are not used, and those that were opened with what is out of date: credentials that were
 * replaced or withdrawn at another replica, a server that was removed, disconnected or changed. All of them at shutdown.
 */
@Injectable()
export class EndPersonSessionsJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('sessions');
  private isRunning = false;

  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly queries: QueryBus,
    private readonly sessions: PersonSessions,
    private readonly folders: ServerFolders,
    @Inject(Env) private readonly env: Env,
  ) {}

  onApplicationBootstrap(): void {
    const idleMs = this.env.MCP_AGGREGATOR_PERSON_SESSION_IDLE * 1_000;
    const everyMs = Math.min(EVERY_MS, idleMs);
    this.scheduler.addInterval(NAME, setInterval(() => void this.run(), everyMs).unref());
  }

  async beforeApplicationShutdown(): Promise<void> {
    if (this.scheduler.doesExist('interval', NAME)) this.scheduler.deleteInterval(NAME);
    await this.sessions.closeAll();
  }

  /** Of these servers, or of all when none is named. Never rejects. */
  async compareNow(serverIds: readonly string[]): Promise<void> {
    await this.guarded(async () => {
      const all = async () => [...this.sessions.serverIds(), ...(await this.folders.ofPeople())];
      for (const id of new Set(serverIds.length > 0 ? serverIds : await all())) {
        if (await this.compare(id)) await this.sessions.sweep(id);
      }
    });
  }

  @Interval(SWEEP_EVERY_MS)
  sweepAll(): Promise<void> {
    return this.compareNow([]);
  }

  private async run(): Promise<void> {
    if (this.isRunning || this.sessions.size === 0) return;
    this.isRunning = true;
    await this.guarded(async () => {
      await this.sessions.closeIdle();
      for (const id of this.sessions.serverIds()) await this.compare(id);
    });
    this.isRunning = false;
  }

  /** False when there is no such server, perhaps because the folder is one of another database. */
  private async compare(serverId: string): Promise<boolean> {
    try {
      const server = await this.queries.execute(new GetServer(serverId));
      if (!server.wanted || server.credentials === 'shared') await this.sessions.close(serverId);
      else await this.sessions.closeOutdated(serverId, server.connectionVersion);
      await this.sessions.closeReplaced(serverId);
      return true;
    } catch (error) {
      if (!(error instanceof ServerNotFound)) throw error;
      await this.sessions.close(serverId);
      return false;
    }
  }

  private async guarded(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.logger.warn({ err: error }, 'session.not_reconciled');
    }
  }
}
