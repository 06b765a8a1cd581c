import { Injectable } from '@nestjs/common';
import { Database, type JsonObject, type Tx } from '@app/platform';
import { In } from 'typeorm';
import type { CatalogueTool } from './catalogue-snapshot.js';
import { ToolEntity } from './tool.entity.js';
import { type DiscoveredTool, partsOf, type StoredTool, type ToolDiff } from './tool.js';

/** Bind parameters of one statement are counted in 16 bits. */
const ROWS_PER_INSERT = 500;
/** While the embedded database reads them, no call is answered: some 12 ms. */
const ROWS_PER_READ = 1_000;

@Injectable()
export class ToolStore {
  constructor(private readonly database: Database) {}

  /** Tools of the named servers; or of all, and the aggregator's own. What is written meanwhile is read with its event. */
  async load(serverIds?: readonly string[]): Promise<CatalogueTool[]> {
    const all = await this.database.direct.query<{ id: number }[]>(
      `SELECT id FROM mcp.tools WHERE $1::uuid[] IS NULL OR source_server_id = ANY($1::uuid[])`,
      [serverIds ?? null],
    );
    const servers = new Map<string, ServerNames>();
    const tools: CatalogueTool[] = [];
    for (let start = 0; start < all.length; start += ROWS_PER_READ) {
      const rows = await this.database.direct.query<LoadedRow[]>(
        `SELECT t.id, t.name, t.original_name, t.source_server_id, s.name AS server_name, t.definition,
                t.is_external, t.content_hash, t.skill_ids, t.primary_skill_id, t.is_classified, t.discovered_at
         FROM mcp.tools t
         LEFT JOIN mcp.external_servers s ON s.id = t.source_server_id
         WHERE t.id = ANY($1::int[])`,
        [all.slice(start, start + ROWS_PER_READ).map(({ id }) => id)],
      );
      for (const row of rows) tools.push(toCatalogueTool(row, servers));
    }
    return tools;
  }

  /** Differs when tools were written since, perhaps without any difference. */
  writes(): Promise<string> {
    return this.database.writesTo('mcp.tools');
  }

  /** By server, '' for the aggregator's own tools: as `digestsOf` has it of a catalogue. */
  async digests(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.database.direct.query<{ server: string; digest: string }[]>(
      `SELECT coalesce(source_server_id::text, '') AS server, md5(string_agg(
         concat_ws(' ', id, name, content_hash, is_classified, array_to_string(skill_ids, ',')), ';' ORDER BY id)) AS digest
       FROM mcp.tools GROUP BY 1`,
    );
    return new Map(rows.map(({ server, digest }) => [server, digest]));
  }

  /** Differs when anything differs that the catalogue shows of a server. */
  async serversDigest(): Promise<string> {
    const rows = await this.database.direct.query<{ digest: string | null }[]>(
      `SELECT md5(string_agg(
         concat_ws(' ', id, name, status, description, error_message, tool_count), ';' ORDER BY id)) AS digest
       FROM mcp.external_servers`,
    );
    return rows[0]?.digest ?? '';
  }

  /** What discovery compares with. The server's row is kept from a rename or removal until the transaction ends. */
  async ofServer(
    serverId: string,
    tx: Tx,
  ): Promise<{ serverName: string; warnings: unknown; tools: StoredTool[] } | undefined> {
    const servers = await tx.query<{ name: string; warnings: unknown }[]>(
      'SELECT name, warnings FROM mcp.external_servers WHERE id = $1 FOR UPDATE',
      [serverId],
    );
    const server = servers[0];
    if (!server) return undefined;
    const tools = await tx.find(ToolEntity, {
      select: { id: true, originalName: true, contentHash: true },
      where: { sourceServerId: serverId },
    });
    return { serverName: server.name, warnings: server.warnings, tools };
  }

  /** From the servers' rows, which `apply` keeps: there may be 100,000 tools. */
  async countOfOthers(serverId: string, tx: Tx): Promise<number> {
    const rows = await tx.query<{ tools: number }[]>(
      'SELECT coalesce(sum(tool_count), 0)::int AS tools FROM mcp.external_servers WHERE id <> $1',
      [serverId],
    );
    return rows[0]?.tools ?? 0;
  }

  /** The aggregator's own tools are these and no others; whether anything had to be written. */
  async replaceOwn(tools: readonly DiscoveredTool[], tx: Tx): Promise<boolean> {
    const removed = await tx.query<unknown[]>(
      `WITH gone AS (DELETE FROM mcp.tools WHERE NOT is_external AND name <> ALL($1) RETURNING id)
       SELECT id FROM gone`,
      [tools.map((tool) => tool.originalName)],
    );
    const written = await tx.query<unknown[]>(
      `INSERT INTO mcp.tools
         (name, original_name, title, description, input_schema, definition, content_hash)
       SELECT name, name, title, description, input_schema::json, definition::json, content_hash
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
         AS own (name, title, description, input_schema, definition, content_hash)
       ON CONFLICT (name) DO UPDATE
       SET title = excluded.title, description = excluded.description,
           input_schema = excluded.input_schema, definition = excluded.definition,
           content_hash = excluded.content_hash, is_classified = false, updated_at = now()
       WHERE tools.content_hash <> excluded.content_hash
       RETURNING id`,
      [
        tools.map((tool) => tool.originalName),
        tools.map((tool) => tool.title),
        tools.map((tool) => tool.description),
        tools.map((tool) => JSON.stringify(tool.inputSchema)),
        tools.map((tool) => JSON.stringify(tool.definition)),
        tools.map((tool) => tool.contentHash),
      ],
    );
    return removed.length + written.length > 0;
  }

  /** The ids of the added tools; `written` is told how many new and changed ones are, batch by batch. */
  async apply(
    serverId: string,
    serverName: string,
    diff: ToolDiff,
    written: (tools: number) => void,
    tx: Tx,
  ): Promise<number[]> {
    if (diff.added.length + diff.changed.length + diff.removed.length === 0) return [];
    if (diff.removed.length > 0) await tx.delete(ToolEntity, { id: In([...diff.removed]) });
    for (const tool of diff.changed) {
      await tx.update(
        ToolEntity,
        { id: tool.id },
        {
          ...columnsOf(tool),
          isClassified: false,
          updatedAt: () => 'now()',
        },
      );
    }
    const added: number[] = [];
    for (let start = 0; start < diff.added.length; start += ROWS_PER_INSERT) {
      const rows = diff.added.slice(start, start + ROWS_PER_INSERT).map((tool) => ({
        ...columnsOf(tool),
        name: `${serverName}.${tool.originalName}`,
        sourceServerId: serverId,
        isExternal: true,
      }));
      const inserted = await tx.insert(ToolEntity, rows);
      added.push(...inserted.identifiers.map((identifier) => Number(identifier['id'])));
      written(diff.changed.length + added.length);
    }
    await tx.query(
      `UPDATE mcp.external_servers SET tool_count =
         (SELECT count(*) FROM mcp.tools WHERE source_server_id = $1) WHERE id = $1`,
      [serverId],
    );
    return added;
  }
}

function columnsOf(
  tool: DiscoveredTool,
): Pick<
  ToolEntity,
  'originalName' | 'title' | 'description' | 'inputSchema' | 'definition' | 'contentHash'
> {
  const { originalName, title, description, inputSchema, definition, contentHash } = tool;
  return { originalName, title, description, inputSchema, definition, contentHash };
}

interface LoadedRow {
  readonly id: number;
  readonly name: string;
  readonly original_name: string;
  readonly source_server_id: string | null;
  readonly server_name: string | null;
  readonly definition: JsonObject;
  readonly is_external: boolean;
  readonly content_hash: string;
  readonly skill_ids: string[];
  readonly primary_skill_id: string | null;
  readonly is_classified: boolean;
  readonly discovered_at: Date;
}

type ServerNames = Pick<CatalogueTool, 'serverId' | 'serverName'>;

/** Nothing is held twice, not even a string: of 100,000 tools each would be. */
function toCatalogueTool(row: LoadedRow, servers: Map<string, ServerNames>): CatalogueTool {
  const serverId = row.source_server_id ?? '';
  let server = servers.get(serverId);
  if (!server) servers.set(serverId, (server = { serverId, serverName: row.server_name ?? '' }));
  const { title, description, inputSchema } = partsOf(row.definition);
  return {
    id: row.id,
    name: row.name,
    originalName: row.original_name,
    serverId: server.serverId,
    serverName: server.serverName,
    title,
    description,
    inputSchema,
    definition: row.definition,
    isExternal: row.is_external,
    contentHash: row.content_hash,
    skillIds: row.skill_ids,
    primarySkillId: row.primary_skill_id,
    isClassified: row.is_classified,
    discoveredAt: row.discovered_at,
  };
}
