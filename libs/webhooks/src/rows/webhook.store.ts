import { Injectable } from '@nestjs/common';
import { Database, type PageQuery, type Tx } from '@app/platform';
import { CredentialVault } from '@app/registry';
import { MAX_WEBHOOKS, type Webhook, type WebhookTarget } from '../webhook.js';
import { TooManyWebhooks, WebhookNotFound } from '../webhooks.errors.js';

const COLUMNS = `id, url, description, topics, server_ids AS "serverIds", enabled, created_by AS "createdBy",
  created_at AS "createdAt", updated_at AS "updatedAt", delivered_at AS "deliveredAt",
  failing_since AS "failingSince", last_error AS "lastError", dead::float8 AS dead`;
/** For `RowWatches`: what is known of deliveries changes often, and is read when it is shown. */
export const WEBHOOKS_MARK = `SELECT md5(string_agg(concat_ws(' ', id, enabled, updated_at), ',' ORDER BY id)) FROM mcp.webhooks`;
const MAX_ERROR_CHARS = 500;

export type NewWebhook = Pick<
  Webhook,
  'id' | 'url' | 'description' | 'topics' | 'serverIds' | 'enabled' | 'createdBy'
>;
export type ChangedWebhook = Pick<
  Webhook,
  'url' | 'description' | 'topics' | 'serverIds' | 'enabled'
>;

/** The rows of `mcp.webhooks`. Secrets are sealed, and leave only with a signature. */
@Injectable()
export class WebhookStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  all(): Promise<readonly Webhook[]> {
    return this.database.background.direct.query<Webhook[]>(
      `SELECT ${COLUMNS} FROM mcp.webhooks ORDER BY created_at, id`,
    );
  }

  async list({ limit, offset }: PageQuery): Promise<{ webhooks: Webhook[]; total: number }> {
    const { direct } = this.database;
    const [webhooks, [count]] = await Promise.all([
      direct.query<Webhook[]>(
        `SELECT ${COLUMNS} FROM mcp.webhooks ORDER BY created_at, id LIMIT $1 OFFSET $2`,
        [limit, offset],
      ),
      direct.query<{ total: number }[]>('SELECT count(*)::int AS total FROM mcp.webhooks'),
    ]);
    return { webhooks, total: count?.total ?? 0 };
  }

  /** Throws WebhookNotFound. With a transaction the row is locked. */
  async get(id: string, tx?: Tx): Promise<Webhook> {
    const [webhook] = await (tx ?? this.database.direct).query<Webhook[]>(
      `SELECT ${COLUMNS} FROM mcp.webhooks WHERE id = $1 ${tx ? 'FOR UPDATE' : ''}`,
      [id],
    );
    if (!webhook) throw new WebhookNotFound(id);
    return webhook;
  }

  /** Throws TooManyWebhooks. */
  async insert(webhook: NewWebhook, secret: string, tx: Tx): Promise<void> {
    await tx.query('LOCK TABLE mcp.webhooks IN SHARE ROW EXCLUSIVE MODE');
    const [count] = await tx.query<{ total: number }[]>(
      'SELECT count(*)::int AS total FROM mcp.webhooks',
    );
    if ((count?.total ?? 0) >= MAX_WEBHOOKS) throw new TooManyWebhooks(MAX_WEBHOOKS);
    const { id, url, description, topics, serverIds, enabled, createdBy } = webhook;
    await tx.query(
      `INSERT INTO mcp.webhooks (id, url, description, topics, server_ids, enabled, secret, created_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [id, url, description, topics, serverIds, enabled, this.seal(id, secret), createdBy],
    );
  }

  async update(id: string, changed: ChangedWebhook, tx: Tx): Promise<void> {
    const { url, description, topics, serverIds, enabled } = changed;
    await tx.query(
      `UPDATE mcp.webhooks SET url = $2, description = $3, topics = $4, server_ids = $5, enabled = $6,
         failing_since = CASE WHEN url = $2 THEN failing_since END,
         last_error = CASE WHEN url = $2 THEN last_error END, updated_at = now()
       WHERE id = $1`,
      [id, url, description, topics, serverIds, enabled],
    );
  }

  async delete(id: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.webhooks WHERE id = $1', [id]);
  }

  /** Undefined if it is removed or off. */
  async target(id: string): Promise<WebhookTarget | undefined> {
    const [row] = await this.database.background.direct.query<{ url: string; secret: unknown }[]>(
      'SELECT url, secret FROM mcp.webhooks WHERE id = $1 AND enabled',
      [id],
    );
    return row && { id, url: row.url, secret: this.vault.open(row.secret, placeOf(id)) };
  }

  async noteDelivered(id: string): Promise<void> {
    await this.database.background.direct.query(
      `UPDATE mcp.webhooks SET delivered_at = now(), failing_since = NULL, last_error = NULL WHERE id = $1`,
      [id],
    );
  }

  async noteFailed(id: string, reason: string, dead: number, tx: Tx): Promise<void> {
    await tx.query(
      `UPDATE mcp.webhooks SET failing_since = coalesce(failing_since, now()), last_error = $2, dead = dead + $3
       WHERE id = $1`,
      [id, reason.slice(0, MAX_ERROR_CHARS), dead],
    );
  }

  /** Re-encrypts every secret with the current key. */
  async resealAll(tx: Tx): Promise<void> {
    const rows = await tx.query<{ id: string; secret: unknown }[]>(
      'SELECT id, secret FROM mcp.webhooks FOR UPDATE',
    );
    for (const { id, secret } of rows) {
      const sealed = this.seal(id, this.vault.open(secret, placeOf(id)));
      await tx.query('UPDATE mcp.webhooks SET secret = $2 WHERE id = $1', [id, sealed]);
    }
  }

  private seal(id: string, secret: string): object {
    return this.vault.seal(secret, placeOf(id));
  }
}

const placeOf = (id: string) => ({ table: 'webhooks', row: id, field: 'secret' });
