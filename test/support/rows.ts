import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { Catalogue } from '@app/catalogue';
import { Database } from '@app/platform';
import { randomUUID } from 'node:crypto';

export interface ToolRow {
  readonly name: string;
  readonly description: string;
  readonly inputSchema?: object;
}

/** For services whose servers exist only as rows: reconciliation would correct them, since they have no session. */
export const ROWS_ONLY = { MCP_AGGREGATOR_ENABLED: 'false' };

/**
 * Inserts a connected server with these tools as discovery would, without a server to connect to; returns the ids of
 * the tools.
 */
export async function insertTools(
  app: NestFastifyApplication,
  server: string,
  tools: readonly ToolRow[],
): Promise<number[]> {
  const { direct } = app.get(Database, { strict: false });
  const serverId = randomUUID();
  await direct.query(
    `INSERT INTO mcp.external_servers (id, name, transport_type, connection_config, status)
     VALUES ($1, $2, 'STDIO', '{}', 'CONNECTED')`,
    [serverId, server],
  );
  const rows = await direct.query<{ id: number }[]>(
    `INSERT INTO mcp.tools (name, original_name, source_server_id, is_external, description,
                            input_schema, definition, content_hash)
     SELECT $1 || '.' || name, name, $2::uuid, true, description, schema::json,
            json_build_object('name', name, 'description', description, 'inputSchema', schema::json),
            md5(name || description)
     FROM unnest($3::text[], $4::text[], $5::text[]) AS t (name, description, schema)
     RETURNING id`,
    [
      server,
      serverId,
      tools.map((tool) => tool.name),
      tools.map((tool) => tool.description),
      tools.map((tool) => JSON.stringify(tool.inputSchema ?? { type: 'object' })),
    ],
  );
  await app.get(Catalogue, { strict: false }).reload();
  return rows.map((row) => row.id);
}
