import { Injectable } from '@nestjs/common';
import { Database, type Tx } from '@app/platform';
import { MAX_WAITING } from '../webhook.js';

/** An event for one webhook. */
export interface NewDelivery {
  readonly webhookId: string;
  /** The id of the server that it is about; events of a lane are sent in order. */
  readonly lane: string;
  readonly topic: string;
  /** The envelope. */
  readonly body: string;
}

export interface Delivery extends NewDelivery {
  readonly id: string;
  readonly attempts: number;
}

/** The first event of a lane that waits. */
export interface WaitingLane {
  readonly webhookId: string;
  readonly lane: string;
  /** Milliseconds until its next attempt, by the clock of the database. */
  readonly dueInMs: number;
}

/** The rows of `mcp.webhook_deliveries`: what was not sent yet. */
@Injectable()
export class DeliveryStore {
  constructor(private readonly database: Database) {}

  /**
   * In the given order. Nothing is added for webhooks that are removed, or that have too many events waiting already,
   * which are counted as dead.
   */
  async add(deliveries: readonly NewDelivery[]): Promise<void> {
    const rows = deliveries.map(({ webhookId, lane, topic, body }) => ({
      webhook_id: webhookId,
      lane,
      topic,
      body,
    }));
    await this.database.background.direct.query(
      `WITH given AS (
         SELECT n, webhook_id, lane, topic, body
         FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (webhook_id uuid, lane varchar, topic varchar, body text))
           WITH ORDINALITY AS r (webhook_id, lane, topic, body, n)
       ), room AS (
         SELECT w.id, $2 - (SELECT count(*) FROM mcp.webhook_deliveries AS d WHERE d.webhook_id = w.id) AS left_over
         FROM mcp.webhooks AS w WHERE w.id IN (SELECT webhook_id FROM given)
       ), numbered AS (
         SELECT given.*, room.left_over, row_number() OVER (PARTITION BY webhook_id ORDER BY n) AS place
         FROM given JOIN room ON room.id = given.webhook_id
       ), dropped AS (
         UPDATE mcp.webhooks AS w SET dead = w.dead + lost.events
         FROM (SELECT webhook_id, count(*) AS events FROM numbered WHERE place > left_over GROUP BY webhook_id) AS lost
         WHERE w.id = lost.webhook_id
       )
       INSERT INTO mcp.webhook_deliveries (webhook_id, lane, topic, body)
       SELECT webhook_id, lane, topic, body FROM numbered WHERE place <= left_over ORDER BY n`,
      [JSON.stringify(rows), MAX_WAITING],
    );
  }

  /** Of webhooks that are on. */
  lanes(): Promise<readonly WaitingLane[]> {
    return this.database.background.direct.query<WaitingLane[]>(
      `SELECT DISTINCT ON (d.webhook_id, d.lane) d.webhook_id AS "webhookId", d.lane,
         greatest(0, extract(epoch FROM d.next_at - now()) * 1000)::float8 AS "dueInMs"
       FROM mcp.webhook_deliveries AS d JOIN mcp.webhooks AS w ON w.id = d.webhook_id AND w.enabled
       ORDER BY d.webhook_id, d.lane, d.id`,
    );
  }

  /** The oldest of a lane, if the first of them is due. */
  async due(webhookId: string, lane: string, most: number): Promise<readonly Delivery[]> {
    const found = await this.database.background.direct.query<(Delivery & { isDue: boolean })[]>(
      `SELECT id, webhook_id AS "webhookId", lane, topic, body, attempts, next_at <= now() AS "isDue"
       FROM mcp.webhook_deliveries WHERE webhook_id = $1 AND lane = $2 ORDER BY id LIMIT $3`,
      [webhookId, lane, most],
    );
    return found[0]?.isDue ? found : [];
  }

  async delete(ids: readonly string[], tx: Tx = this.database.background.direct): Promise<void> {
    await tx.query('DELETE FROM mcp.webhook_deliveries WHERE id = ANY($1::bigint[])', [ids]);
  }

  async postpone(id: string, waitMs: number, tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.webhook_deliveries SET attempts = attempts + 1,
         next_at = now() + make_interval(secs => $2::float8 / 1000)
       WHERE id = $1`,
      [id, waitMs],
    );
  }

  async waitingOf(webhookIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.database.direct.query<{ id: string; waiting: number }[]>(
      `SELECT webhook_id AS id, count(*)::int AS waiting FROM mcp.webhook_deliveries
       WHERE webhook_id = ANY($1::uuid[]) GROUP BY webhook_id`,
      [webhookIds],
    );
    return new Map(rows.map(({ id, waiting }) => [id, waiting]));
  }
}
