import { Injectable } from '@nestjs/common';
import { Clock, Database, type Tx } from '@app/platform';
import { DeliveryRoom, SESSIONS } from './delivery-room.js';

/** An event for one webhook. */
export interface NewDelivery {
  readonly webhookId: string;
  /** The id of the server that it is about, else its topic; events of a lane are sent in order. */
  readonly lane: string;
  readonly topic: string;
  /** The envelope. */
  readonly body: string;
}

export interface Delivery extends NewDelivery {
  readonly id: string;
  /** The same at each attempt, and never used again, also not after a restore, when row ids start at 1. */
  readonly messageId: string;
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
  private readonly room = new DeliveryRoom();

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
  ) {}

  /**
   * In the given order. Nothing is added for webhooks that are removed, or that have too many events waiting already,
   * which are counted as dead.
   */
  async add(deliveries: readonly NewDelivery[]): Promise<void> {
    await this.count(deliveries);
    const added: object[] = [];
    const dropped = new Map<string, number>();
    for (const { webhookId, lane, topic, body } of deliveries) {
      if (this.room.take(webhookId, lane)) added.push({ webhook_id: webhookId, lane, topic, body });
      else dropped.set(webhookId, (dropped.get(webhookId) ?? 0) + 1);
    }
    const lost = [...dropped].map(([id, events]) => ({ id, events }));
    await this.database.background.direct.query(
      `WITH dropped AS (
         UPDATE mcp.webhooks AS w SET dead = w.dead + lost.events
         FROM jsonb_to_recordset($2::jsonb) AS lost (id uuid, events bigint) WHERE w.id = lost.id
       )
       INSERT INTO mcp.webhook_deliveries (webhook_id, lane, topic, body)
       SELECT webhook_id, lane, topic, body
       FROM ROWS FROM (jsonb_to_recordset($1::jsonb) AS (webhook_id uuid, lane varchar, topic varchar, body text))
         WITH ORDINALITY AS r (webhook_id, lane, topic, body, n)
       WHERE webhook_id IN (SELECT id FROM mcp.webhooks) ORDER BY n`,
      [JSON.stringify(added), JSON.stringify(lost)],
    );
  }

  /** Of webhooks that are on, the one whose first event is the oldest first. Reads one row of each lane. */
  lanes(): Promise<readonly WaitingLane[]> {
    return this.database.background.direct.query<WaitingLane[]>(
      `WITH RECURSIVE heads AS (
         SELECT first.* FROM mcp.webhooks AS w CROSS JOIN LATERAL
           (SELECT id, webhook_id, lane, next_at FROM mcp.webhook_deliveries
            WHERE webhook_id = w.id ORDER BY lane, id LIMIT 1) AS first
         WHERE w.enabled
         UNION ALL
         SELECT next.* FROM heads CROSS JOIN LATERAL
           (SELECT id, webhook_id, lane, next_at FROM mcp.webhook_deliveries
            WHERE webhook_id = heads.webhook_id AND lane > heads.lane ORDER BY lane, id LIMIT 1) AS next
       )
       SELECT webhook_id AS "webhookId", lane,
         greatest(0, extract(epoch FROM next_at - now()) * 1000)::float8 AS "dueInMs"
       FROM heads ORDER BY id`,
    );
  }

  /** The oldest of a lane, if the first of them is due. */
  async due(webhookId: string, lane: string, most: number): Promise<readonly Delivery[]> {
    const found = await this.database.background.direct.query<(Delivery & { isDue: boolean })[]>(
      `SELECT id, concat('msg_', id, '_', (extract(epoch FROM created_at) * 1000)::bigint) AS "messageId",
         webhook_id AS "webhookId", lane, topic, body, attempts, next_at <= now() AS "isDue"
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

  /** All that wait for a webhook are sent as if for the first time, because its address is another one. */
  async beginAgain(webhookId: string, tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.webhook_deliveries SET attempts = 0, next_at = now() WHERE webhook_id = $1 AND attempts > 0`,
      [webhookId],
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

  /** What waits, of webhooks whose room is not known any more. */
  private async count(deliveries: readonly NewDelivery[]): Promise<void> {
    const now = this.clock.monotonic();
    const events = new Map<string, number>();
    for (const { webhookId: id } of deliveries) events.set(id, (events.get(id) ?? 0) + 1);
    const unknown = [...events]
      .filter(([id, count]) => !this.room.isKnown(id, count, now))
      .map(([id]) => id);
    if (unknown.length === 0) return;
    const rows = await this.database.background.direct.query<
      { id: string; waiting: number; sessions: number }[]
    >(
      `SELECT webhook_id AS id, count(*)::int AS waiting, (count(*) FILTER (WHERE lane = $2))::int AS sessions
       FROM mcp.webhook_deliveries WHERE webhook_id = ANY($1::uuid[]) GROUP BY webhook_id`,
      [unknown, SESSIONS],
    );
    const found = new Map(rows.map((row) => [row.id, row]));
    for (const id of unknown) {
      this.room.set(id, found.get(id) ?? { waiting: 0, sessions: 0 }, now);
    }
  }
}
