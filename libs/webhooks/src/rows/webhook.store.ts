import { Injectable } from '@nestjs/common';
import { Database, type PageQuery, type Tx } from '@app/platform';
import { CredentialVault, UnreadableCredentials } from '@app/registry';
import { MAX_WEBHOOKS, type Webhook, type WebhookTarget } from '../webhook.js';
import { TooManyWebhooks, WebhookNotFound } from '../webhooks.errors.js';

const COLUMNS = `id, url, description, topics, server_ids AS "serverIds", enabled, created_by AS "createdBy",
  created_at AS "createdAt", updated_at AS "updatedAt", delivered_at AS "deliveredAt",
  failing_since AS "failingSince", last_error AS "lastError", dead::float8 AS dead`;
/** For `RowWatches`: what is known of deliveries changes often, and is read when it is shown. */
export const WEBHOOKS_MARK = `SELECT md5(string_agg(concat_ws(' ', id, enabled, updated_at), ',' ORDER BY id)) FROM mcp.webhooks`;
const MAX_ERROR_CHARS = 500;
/** How a sealed URL begins; the first rows have theirs in plain text. */
const SEALED = '{';

export type NewWebhook = Pick<
  Webhook,
  'id' | 'url' | 'description' | 'topics' | 'serverIds' | 'enabled' | 'createdBy'
>;
export type ChangedWebhook = Pick<
  Webhook,
  'url' | 'description' | 'topics' | 'serverIds' | 'enabled'
>;

/**
 * The rows of `mcp.webhooks`. Secrets are sealed, and leave only with a signature; URLs are sealed too, because many have
 * a secret in their path or query.
 */
@Injectable()
export class WebhookStore {
  constructor(
    private readonly database: Database,
    private readonly vault: CredentialVault,
  ) {}

  async all(): Promise<readonly Webhook[]> {
    const rows = await this.database.background.direct.query<Webhook[]>(
      `SELECT ${COLUMNS} FROM mcp.webhooks ORDER BY created_at, id`,
    );
    return rows.map((row) => this.opened(row));
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
    return { webhooks: webhooks.map((row) => this.opened(row)), total: count?.total ?? 0 };
  }

  /** Throws WebhookNotFound. With a transaction the row is locked. */
  async get(id: string, tx?: Tx): Promise<Webhook> {
    const [webhook] = await (tx ?? this.database.direct).query<Webhook[]>(
      `SELECT ${COLUMNS} FROM mcp.webhooks WHERE id = $1 ${tx ? 'FOR UPDATE' : ''}`,
      [id],
    );
    if (!webhook) throw new WebhookNotFound(id);
    return this.opened(webhook);
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
      [
        id,
        this.sealedUrl(id, url),
        description,
        topics,
        serverIds,
        enabled,
        this.vault.seal(secret, placeOf(id, 'secret')),
        createdBy,
      ],
    );
  }

  /** With another URL it has not failed yet. */
  async update(id: string, changed: ChangedWebhook, hasOtherUrl: boolean, tx: Tx): Promise<void> {
    const { url, description, topics, serverIds, enabled } = changed;
    await tx.query(
      `UPDATE mcp.webhooks SET url = CASE WHEN $7 THEN $2 ELSE url END, description = $3, topics = $4, server_ids = $5, enabled = $6,
         failing_since = CASE WHEN NOT $7 THEN failing_since END,
         last_error = CASE WHEN NOT $7 THEN last_error END, updated_at = now()
       WHERE id = $1`,
      [id, this.sealedUrl(id, url), description, topics, serverIds, enabled, hasOtherUrl],
    );
  }

  async delete(id: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.webhooks WHERE id = $1', [id]);
  }

  /** Undefined if it is removed or off. Throws UnreadableCredentials. */
  async target(id: string): Promise<WebhookTarget | undefined> {
    const [row] = await this.database.background.direct.query<{ url: string; secret: unknown }[]>(
      'SELECT url, secret FROM mcp.webhooks WHERE id = $1 AND enabled',
      [id],
    );
    if (!row) return undefined;
    const secret = this.vault.open(row.secret, placeOf(id, 'secret'));
    return { id, url: this.openUrl(id, row.url), secret };
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

  /** Re-encrypts every secret and URL with the current key. */
  async resealAll(tx: Tx): Promise<void> {
    const rows = await tx.query<{ id: string; url: string; secret: unknown }[]>(
      'SELECT id, url, secret FROM mcp.webhooks FOR UPDATE',
    );
    for (const { id, url, secret } of rows) {
      const place = placeOf(id, 'secret');
      const sealed = this.vault.seal(this.vault.open(secret, place), place);
      await tx.query('UPDATE mcp.webhooks SET url = $2, secret = $3 WHERE id = $1', [
        id,
        this.sealedUrl(id, this.openUrl(id, url)),
        sealed,
      ]);
    }
  }

  private opened(row: Webhook): Webhook {
    try {
      return { ...row, url: this.openUrl(row.id, row.url) };
    } catch (error) {
      if (error instanceof UnreadableCredentials) return { ...row, url: '' };
      throw error;
    }
  }

  private sealedUrl(id: string, url: string): string {
    return JSON.stringify(this.vault.seal(url, placeOf(id, 'url')));
  }

  private openUrl(id: string, stored: string): string {
    return stored.startsWith(SEALED)
      ? this.vault.open(JSON.parse(stored), placeOf(id, 'url'))
      : stored;
  }
}

const placeOf = (row: string, field: 'secret' | 'url') => ({ table: 'webhooks', row, field });
