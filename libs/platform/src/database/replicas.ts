import {
  Inject,
  Injectable,
  Logger,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { z } from 'zod';
import { Clock } from '../clock.js';
import { Env } from '../config/env.js';
import { Database } from './database.js';

/** What changed; without a topic, anything may have. */
export interface ReplicaNews {
  readonly topic?: string;
  /** Of what the topic is about; empty for all of it. */
  readonly ids: readonly string[];
}

const CHANNEL = 'switchboard_news';
/** PostgreSQL takes less than 8,000 bytes. */
const MAX_BYTES = 7_500;
const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 30_000;

const wire = z.object({ from: z.string(), topic: z.string(), ids: z.array(z.string()) });

/**
 * What the processes on one PostgreSQL tell each other (LISTEN and NOTIFY). Hints: the rows are the truth,
 * and after a broken connection everything may have changed. The embedded database has one process.
 */
@Injectable()
export class Replicas implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(Replicas.name);
  private readonly self = randomUUID();
  private readonly listeners = new Set<(news: ReplicaNews) => void>();
  private readonly stop = new AbortController();
  private client: pg.Client | undefined;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  onModuleInit(): void {
    if (this.env.DATABASE_URL) void this.listenForEver(this.env.DATABASE_URL);
  }

  async onModuleDestroy(): Promise<void> {
    this.stop.abort();
    await this.client?.end().catch(() => undefined);
  }

  /** Heard by all other processes; the returned function ends it. */
  hear(listener: (news: ReplicaNews) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Never throws: what is not heard is found by the next comparison with the rows. */
  async tell(topic: string, ids: readonly string[] = []): Promise<void> {
    if (!this.env.DATABASE_URL) return;
    const text = JSON.stringify({ from: this.self, topic, ids });
    const short = JSON.stringify({ from: this.self, topic, ids: [] });
    const payload = Buffer.byteLength(text) > MAX_BYTES ? short : text;
    await this.database.direct
      .query('SELECT pg_notify($1, $2)', [CHANNEL, payload])
      .catch((error: unknown) => {
        this.logger.warn({ err: error, topic }, 'the other replicas could not be told of a change');
      });
  }

  private async listenForEver(url: string): Promise<void> {
    let failures = 0;
    while (!this.stop.signal.aborted) {
      const client = new pg.Client({
        connectionString: url,
        application_name: 'switchboard',
        keepAlive: true,
      });
      const broken = new Promise<void>((resolve) => {
        client.on('end', () => resolve());
        client.on('error', () => resolve());
      });
      client.on('notification', ({ payload }) => this.read(payload));
      try {
        this.client = client;
        await client.connect();
        await client.query(`LISTEN ${CHANNEL}`);
        failures = 0;
        this.spread({ ids: [] });
        await broken;
      } catch (error) {
        failures++;
        this.logger.warn({ err: error }, 'the other replicas cannot be heard; tried again');
      }
      await client.end().catch(() => undefined);
      const wait = Math.min(FIRST_WAIT_MS * 2 ** Math.max(0, failures - 1), LONGEST_WAIT_MS);
      await this.clock.sleep(wait, this.stop.signal).catch(() => undefined);
    }
  }

  private read(payload: string | undefined): void {
    const news = wire.safeParse(parsed(payload ?? ''));
    if (news.success && news.data.from !== this.self) this.spread(news.data);
  }

  private spread(news: ReplicaNews): void {
    for (const listener of this.listeners) listener(news);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
