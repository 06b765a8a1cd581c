import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import { Database, type Tx } from '../database/database.js';
import { Signal } from '../signal.js';
import { ControlConnection } from './control-connection.js';

/** What changed; without a topic, anything may have. */
export interface ReplicaNews {
  readonly topic?: string;
  /** Ids within the topic; empty for all of it. */
  readonly ids: readonly string[];
}

const CHANNEL = 'switchboard_news';
/** PostgreSQL limits a NOTIFY payload to less than 8,000 bytes. */
const MAX_BYTES = 7_500;

const wire = z.object({ from: z.string(), topic: z.string(), ids: z.array(z.string()) });

/**
 * Notifications between the processes on one PostgreSQL (LISTEN and NOTIFY). They are hints: the rows are the truth,
 * and after a broken connection everything may have changed. The embedded database has one process.
 */
@Injectable()
export class Replicas implements OnModuleInit {
  private readonly logger = new Logger(Replicas.name);
  private readonly self = randomUUID();
  private readonly heard = new Signal<ReplicaNews>('replicas');

  constructor(
    private readonly database: Database,
    private readonly control: ControlConnection,
  ) {}

  async onModuleInit(): Promise<void> {
    if (!this.control.isNeeded) return;
    this.control.onOpened(() => this.listen());
    this.control.onNotification(({ channel, payload }) => {
      if (channel === CHANNEL) this.read(payload);
    });
    await this.listen();
  }

  /** Delivered to all other processes; the returned function unsubscribes. */
  hear(listener: (news: ReplicaNews) => unknown): () => void {
    return this.heard.hear(listener);
  }

  /** Never throws: a lost notification is made up for by the next comparison with the rows. */
  async tell(topic: string, ids: readonly string[] = []): Promise<void> {
    await this.tellIn(this.database.direct, topic, ids).catch((error: unknown) => {
      this.logger.warn({ err: error, topic }, 'replicas.not_told');
    });
  }

  /**
   * Delivered when the transaction commits, and also if this process ends right then: for what takes something away,
   * which others must not keep offering until their next comparison with the rows.
   */
  async tellIn(tx: Pick<Tx, 'query'>, topic: string, ids: readonly string[] = []): Promise<void> {
    if (!this.control.isNeeded) return;
    const text = JSON.stringify({ from: this.self, topic, ids });
    const short = JSON.stringify({ from: this.self, topic, ids: [] });
    const payload = Buffer.byteLength(text) > MAX_BYTES ? short : text;
    await tx.query('SELECT pg_notify($1, $2)', [CHANNEL, payload]);
  }

  private async listen(): Promise<void> {
    try {
      await this.control.query(`LISTEN ${CHANNEL}`);
    } catch {
      return; // the next connection listens
    }
    this.spread({ ids: [] });
  }

  private read(payload: string | undefined): void {
    const news = wire.safeParse(parsed(payload ?? ''));
    if (news.success && news.data.from !== this.self) this.spread(news.data);
  }

  private spread(news: ReplicaNews): void {
    void this.heard.tell(news);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
