import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type Tx } from '@app/platform';
import type { QueryRule } from './query-rule.js';
import type { ServerSettings } from './server-settings.js';

/** Rules and settings as rows; read anew for each query, so that all replicas go by the same. */
@Injectable()
export class QuerySettingsStore {
  constructor(private readonly database: Database) {}

  /** In the order in which they are tried. */
  async rules(tx: Tx = this.database.direct): Promise<QueryRule[]> {
    return tx.query<QueryRule[]>('SELECT pattern, servers FROM mcp.query_rules ORDER BY position');
  }

  async replaceRules(rules: readonly QueryRule[], tx: Tx): Promise<void> {
    // Whoever replaces the list at the same time waits, and then replaces it as a whole.
    await tx.query('LOCK TABLE mcp.query_rules IN EXCLUSIVE MODE');
    await tx.query('DELETE FROM mcp.query_rules');
    for (const [position, { pattern, servers }] of rules.entries()) {
      await tx.query(
        'INSERT INTO mcp.query_rules (position, pattern, servers) VALUES ($1, $2, $3)',
        [position, pattern, servers],
      );
    }
  }

  /** By server id; servers without an entry go by the defaults. */
  async servers(tx: Tx = this.database.direct): Promise<ReadonlyMap<string, ServerSettings>> {
    const rows = await tx.query<SettingsRow[]>('SELECT * FROM mcp.query_servers');
    return new Map(rows.map((row) => [row.server_id, toSettings(row)]));
  }

  /** False when the server is gone meanwhile. */
  async saveServer(serverId: string, settings: ServerSettings, tx: Tx): Promise<boolean> {
    const { enabled, tool, argument, weight } = settings;
    const saved = await tx.query<unknown[]>(
      `INSERT INTO mcp.query_servers (server_id, enabled, tool, argument, arguments, weight)
       SELECT id, $2, $3, $4, $5, $6 FROM mcp.external_servers WHERE id = $1
       ON CONFLICT (server_id) DO UPDATE SET enabled = excluded.enabled, tool = excluded.tool,
         argument = excluded.argument, arguments = excluded.arguments, weight = excluded.weight
       RETURNING server_id`,
      [serverId, enabled, tool, argument, JSON.stringify(settings.arguments), weight],
    );
    return saved.length > 0;
  }

  async forgetServer(serverId: string, tx: Tx): Promise<void> {
    await tx.query('DELETE FROM mcp.query_servers WHERE server_id = $1', [serverId]);
  }
}

interface SettingsRow {
  readonly server_id: string;
  readonly enabled: boolean;
  readonly tool: string | null;
  readonly argument: string | null;
  readonly arguments: JsonObject;
  readonly weight: number;
}

function toSettings(row: SettingsRow): ServerSettings {
  const { enabled, tool, argument, weight } = row;
  return { enabled, tool, argument, arguments: row.arguments, weight };
}
