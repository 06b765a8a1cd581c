import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type Trust, type Tx } from '@app/platform';
import { ServerStore } from './server.store.js';

/** Serialises the transactions that publish tools across replicas, so that the limit over all servers holds. */
const PUBLISHING_LOCK = 7_202_614;

export interface WaitingServer {
  readonly id: string;
  /** Tools that would be published if other servers left room. */
  readonly leftOut: number;
}

export interface DiscoveredServer {
  readonly id: string;
  readonly name: string;
  /** Null: as the setting says. */
  readonly trust: Trust | null;
}

export interface DiscoveryOutcome {
  readonly toolCount: number;
  readonly leftOut: number;
  readonly warnings: readonly string[];
  readonly at: Date;
}

/** The columns of a server row that discovery writes, in the transaction that writes its tools. */
@Injectable()
export class DiscoveredServerStore {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
  ) {}

  /** Until the transaction ends. Taken before any row is locked, so that no transaction waits for it with a lock. */
  async lockPublishing(tx: Tx): Promise<void> {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [PUBLISHING_LOCK]);
  }

  /** The row, locked until the transaction ends; undefined if the server has been removed. */
  async lock(serverId: string, tx: Tx): Promise<DiscoveredServer | undefined> {
    const rows = await tx.query<DiscoveredServer[]>(
      'SELECT id, name, trust FROM mcp.external_servers WHERE id = $1 FOR UPDATE',
      [serverId],
    );
    return rows[0];
  }

  addHistory(serverId: string, event: string, details: JsonObject, tx: Tx): Promise<void> {
    return this.servers.addHistory(serverId, event, details, tx);
  }

  /**
   * Writes the outcome of a discovery, which locks the row against rename and removal until the transaction ends.
   * Returns the server; undefined if the server has been removed.
   */
  async write(
    serverId: string,
    { toolCount, leftOut, at, warnings }: DiscoveryOutcome,
    tx: Tx,
  ): Promise<DiscoveredServer | undefined> {
    const rows = await tx.query<DiscoveredServer[]>(
      `WITH written AS (
         UPDATE mcp.external_servers SET tool_count = $2, warnings = $3::jsonb,
                tools_left_out = $4, tools_read_at = $5,
                list_failures = list_failures - 'tools',
                updated_at = CASE WHEN warnings = $3::jsonb THEN updated_at ELSE now() END
         WHERE id = $1 RETURNING id, name, trust)
       SELECT id, name, trust FROM written`,
      [serverId, toolCount, JSON.stringify(warnings), leftOut, at],
    );
    return rows[0];
  }

  /** Uses the count stored at each discovery instead of counting rows: there may be 100,000 tools. */
  async countToolsOfOthers(serverId: string, tx: Tx): Promise<number> {
    const rows = await tx.query<{ tools: number }[]>(
      'SELECT coalesce(sum(tool_count), 0)::int AS tools FROM mcp.external_servers WHERE id <> $1',
      [serverId],
    );
    return rows[0]?.tools ?? 0;
  }

  /** For a discovery that failed; a successful one sets it together with its outcome. */
  async setReadAt(serverId: string, at: Date): Promise<void> {
    await this.database.background.direct.query(
      'UPDATE mcp.external_servers SET tools_read_at = $2 WHERE id = $1',
      [serverId, at],
    );
  }

  /** Connected servers whose list of tools could not be read. */
  async unlisted(): Promise<readonly string[]> {
    const rows = await this.database.background.direct.query<{ id: string }[]>(
      `SELECT id FROM mcp.external_servers
       WHERE status = 'CONNECTED' AND list_failures ->> 'tools' IS NOT NULL`,
    );
    return rows.map(({ id }) => id);
  }

  /** The tools of all servers, and the connected servers with tools left out, in order of registration. */
  async waitingForRoom(): Promise<{
    readonly published: number;
    readonly waiting: readonly WaitingServer[];
  }> {
    const [total, waiting] = await Promise.all([
      this.database.background.direct.query<{ tools: number }[]>(
        'SELECT coalesce(sum(tool_count), 0)::int AS tools FROM mcp.external_servers',
      ),
      this.database.background.direct.query<WaitingServer[]>(
        `SELECT id, tools_left_out AS "leftOut" FROM mcp.external_servers
         WHERE status = 'CONNECTED' AND tools_left_out > 0 ORDER BY registered_at, id`,
      ),
    ]);
    return { published: total[0]?.tools ?? 0, waiting };
  }
}
