import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  Logger,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { SchedulerRegistry } from '@nestjs/schedule';
import { Env } from '@app/platform';
import { GetServer, ServerNotFound } from '@app/registry';
import { PersonSessions } from './person-sessions.js';

const NAME = 'end-person-sessions';
const EVERY_MS = 5_000;

/**
 * Ends sessions of people that are not used, and those to servers that were removed, disconnected or changed at another
 * replica; all of them at shutdown.
 */
@Injectable()
export class EndPersonSessionsJob implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger('sessions');
  private isRunning = false;

  constructor(
    private readonly scheduler: SchedulerRegistry,
    private readonly queries: QueryBus,
    private readonly sessions: PersonSessions,
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

  private async run(): Promise<void> {
    if (this.isRunning || this.sessions.size === 0) return;
    this.isRunning = true;
    try {
      await this.sessions.closeIdle();
      for (const id of this.sessions.serverIds()) await this.compare(id);
    } catch (error) {
      this.logger.warn({ err: error }, 'session.not_reconciled');
    } finally {
      this.isRunning = false;
    }
  }

  private async compare(serverId: string): Promise<void> {
    try {
      const server = await this.queries.execute(new GetServer(serverId));
      if (!server.wanted || server.credentials === 'shared') await this.sessions.close(serverId);
      else await this.sessions.closeOutdated(serverId, server.connectionVersion);
    } catch (error) {
      if (!(error instanceof ServerNotFound)) throw error;
      await this.sessions.close(serverId);
    }
  }
}
