import {
  Inject,
  Injectable,
  Logger,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import pg from 'pg';
import { backoffMs } from '../work/backoff.js';
import { Clock, within } from '../work/clock.js';
import { Env } from '../config/env.js';
import { DatabaseUnavailable } from '../database/failures/database.errors.js';
import { Signal } from '../signal.js';

/** A connection that does not answer within this time is closed: its machine, or the network, may be gone. */
const ANSWER_WITHIN_MS = 2_000;
/** As PostgreSQL lists these connections, one per replica. */
export const CONTROL_CONNECTION = 'switchboard control';
/** Short, because without this connection the process neither leads nor hears of changes. */
const WAITS = { firstMs: 250, longestMs: 5_000 };

/**
 * The one connection to PostgreSQL that waits behind no other work: for leadership and for notifications between
 * replicas. Opened again after it broke or did not answer. Never opened with the embedded database, which has one
 * process.
 */
@Injectable()
export class ControlConnection implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger(ControlConnection.name);
  private readonly stop = new AbortController();
  private readonly opened = new Signal<void>('control connection');
  private readonly notified = new Signal<pg.Notification>('notifications');
  private readonly url: string | undefined;
  private client: pg.Client | undefined;

  constructor(
    private readonly clock: Clock,
    @Inject(Env) env: Env,
  ) {
    this.url = env.DATABASE_DIRECT_URL ?? env.DATABASE_URL;
  }

  /** False with the embedded database. */
  get isNeeded(): boolean {
    return this.url !== undefined;
  }

  /** Resolves after the first attempt to connect, whatever came of it. */
  async onModuleInit(): Promise<void> {
    const { url } = this;
    if (url) await new Promise<void>((resolve) => void this.keepOpen(url, resolve));
  }

  /** After sessions were closed, which depends on whether this process resigned. */
  async onApplicationShutdown(): Promise<void> {
    this.stop.abort();
    await this.close(this.client);
  }

  /** Called for each new connection; what was sent to an earlier one is lost. */
  onOpened(listener: () => unknown): () => void {
    return this.opened.hear(listener);
  }

  onNotification(listener: (notification: pg.Notification) => unknown): () => void {
    return this.notified.hear(listener);
  }

  /** Rejects with DatabaseUnavailable without a connection, and when it does not answer in time. */
  async query<T extends pg.QueryResultRow>(
    sql: string,
    parameters: unknown[] = [],
  ): Promise<readonly T[]> {
    const { client } = this;
    if (!client) throw new DatabaseUnavailable('unreachable');
    const work = client.query<T>(sql, parameters);
    const answer = await within(this.clock, ANSWER_WITHIN_MS, work);
    if (answer) return answer.rows;
    work.catch(() => undefined);
    await this.close(client);
    throw new DatabaseUnavailable('slow');
  }

  private async keepOpen(url: string, afterFirstAttempt: () => void): Promise<void> {
    let failures = 0;
    while (!this.stop.signal.aborted) {
      const client = this.newClient(url);
      const broken = new Promise<void>((resolve) => {
        client.on('end', () => resolve());
        client.on('error', () => resolve());
      });
      client.on('notification', (notification) => void this.notified.tell(notification));
      try {
        await client.connect();
        if (this.stop.signal.aborted) return await this.close(client);
        this.client = client;
        failures = 0;
        afterFirstAttempt();
        void this.opened.tell();
        await broken;
        if (!this.stop.signal.aborted) this.logger.warn('control_connection.broken');
      } catch (error) {
        failures++;
        afterFirstAttempt();
        this.logger.warn({ err: error }, 'control_connection.failed');
      }
      await this.close(client);
      const waitMs = backoffMs(Math.max(1, failures), WAITS);
      await this.clock.sleep(waitMs, this.stop.signal).catch(() => undefined);
    }
  }

  private newClient(url: string): pg.Client {
    return new pg.Client({
      connectionString: url,
      application_name: CONTROL_CONNECTION,
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      keepAlive: true,
    });
  }

  /** With a query under way node-postgres destroys the socket instead of waiting for an answer. */
  private async close(client: pg.Client | undefined): Promise<void> {
    if (client && this.client === client) this.client = undefined;
    await client?.end().catch(() => undefined);
  }
}
