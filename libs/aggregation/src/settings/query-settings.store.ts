import { Injectable } from '@nestjs/common';
import {
  Database,
  isForeignKeyViolation,
  isJsonObject,
  type JsonObject,
  rowsMark,
  type Tx,
} from '@app/platform';
import { z } from 'zod';
import type { QueryRule } from '../choose/query-rule.js';
import type { ServerQuerySettings } from './server-query-settings.js';

export interface QuerySettingsSnapshot {
  /** In the order in which they are tried. */
  readonly rules: readonly QueryRule[];
  /** By server id; servers without an entry have the defaults. */
  readonly servers: ReadonlyMap<string, ServerQuerySettings>;
}

/** For `RowWatches`. */
export const QUERY_SETTINGS_MARK = `SELECT concat_ws(' ', (${rowsMark('mcp.query_rules')}), (${rowsMark('mcp.query_servers')}))`;

const ruleRows = z.array(z.object({ pattern: z.string(), servers: z.array(z.string()) }));
const settingsRows = z.array(
  z.object({
    server_id: z.string(),
    enabled: z.boolean(),
    tool: z.string().nullable(),
    argument: z.string().nullable(),
    arguments: z.custom<JsonObject>(isJsonObject),
    weight: z.number(),
  }),
);

/** The rows of `mcp.query_rules` and `mcp.query_servers`. */
@Injectable()
export class QuerySettingsStore {
  constructor(private readonly database: Database) {}

  async read(): Promise<QuerySettingsSnapshot> {
    return this.database.transaction(async (tx) => ({
      rules: await this.rules(tx),
      servers: await this.servers(tx),
    }));
  }

  /** In the order in which they are tried. */
  async rules(tx: Tx = this.database.direct): Promise<readonly QueryRule[]> {
    const rows: unknown = await tx.query(
      'SELECT pattern, servers FROM mcp.query_rules ORDER BY position',
    );
    return ruleRows.parse(rows);
  }

  async replaceRules(rules: readonly QueryRule[], tx: Tx): Promise<void> {
    // Concurrent replacements run one after the other; the later one wins as a whole.
    await tx.query('LOCK TABLE mcp.query_rules IN EXCLUSIVE MODE');
    await tx.query('DELETE FROM mcp.query_rules');
    for (const [position, { pattern, servers }] of rules.entries()) {
      await tx.query(
        'INSERT INTO mcp.query_rules (position, pattern, servers) VALUES ($1, $2, $3)',
        [position, pattern, servers],
      );
    }
  }

  /** By server id; servers without an entry have the defaults. */
  async servers(tx: Tx = this.database.direct): Promise<ReadonlyMap<string, ServerQuerySettings>> {
    const rows: unknown = await tx.query('SELECT * FROM mcp.query_servers');
    return new Map(
      settingsRows.parse(rows).map(({ server_id: id, ...settings }) => [id, settings]),
    );
  }

  /** False when the server has been removed; the transaction can only be undone then. */
  async saveServer(serverId: string, settings: ServerQuerySettings, tx: Tx): Promise<boolean> {
    const { enabled, tool, argument, weight } = settings;
    const saved = tx.query(
      `INSERT INTO mcp.query_servers (server_id, enabled, tool, argument, arguments, weight)
       VALUES ($1, $2, $3, $4, $5, $6)
       ON CONFLICT (server_id) DO UPDATE SET enabled = excluded.enabled, tool = excluded.tool,
         argument = excluded.argument, arguments = excluded.arguments, weight = excluded.weight`,
      [serverId, enabled, tool, argument, JSON.stringify(settings.arguments), weight],
    );
    try {
      await saved;
      return true;
    } catch (error) {
      if (isForeignKeyViolation(error)) return false;
      throw error;
    }
  }

  async forgetServer(serverId: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.query_servers WHERE server_id = $1', [serverId]);
  }
}
