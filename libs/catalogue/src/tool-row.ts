import type { CatalogueTool } from './catalogue-snapshot.js';
import { isSameWithheld, readWithheld } from './withheld.js';

/** The columns of `mcp.tools` that a tool of the catalogue is made of, without its definition. */
export interface ToolRow {
  readonly id: number;
  readonly name: string;
  readonly original_name: string;
  readonly source_server_id: string | null;
  readonly is_external: boolean;
  readonly content_hash: string;
  readonly withheld: unknown;
  readonly skill_ids: string[];
  readonly primary_skill_id: string | null;
  readonly is_classified: boolean;
  readonly classified_by: string | null;
  readonly discovered_at: Date;
}

export interface ServerNames extends Pick<CatalogueTool, 'serverId' | 'serverName'> {
  /** Lists of skills and names of classifiers that its tools have, by their text. */
  readonly lists: Map<string, readonly string[]>;
  readonly strings: Map<string, string>;
}
type Description = Pick<CatalogueTool, 'title' | 'description' | 'inputSchema' | 'definition'>;

/** Reuses known objects and strings: duplicates would cost memory times 100,000 tools. */
export function toCatalogueTool(
  row: ToolRow,
  { title, description, inputSchema, definition }: Description,
  known: CatalogueTool | undefined,
  servers: Map<string, ServerNames>,
): CatalogueTool {
  const { serverId, serverName, lists, strings } = serverOf(row, servers);
  const tool = {
    id: row.id,
    name: row.name,
    originalName: row.original_name,
    serverId,
    serverName,
    title,
    description,
    inputSchema,
    definition,
    isExternal: row.is_external,
    contentHash: row.content_hash,
    withheld: readWithheld(row.withheld),
    skillIds: once(lists, row.skill_ids.join(' '), row.skill_ids),
    primarySkillId:
      row.primary_skill_id && once(strings, row.primary_skill_id, row.primary_skill_id),
    isClassified: row.is_classified,
    classifiedBy: row.classified_by && once(strings, row.classified_by, row.classified_by),
    discoveredAt: row.discovered_at,
  };
  return known && isSame(tool, known) ? known : tool;
}

/** Takes the server name from the tool name, so that both are consistent during a rename. */
function serverOf(row: ToolRow, servers: Map<string, ServerNames>): ServerNames {
  const serverId = row.source_server_id ?? '';
  const serverName = row.is_external ? row.name.slice(0, -row.original_name.length - 1) : '';
  let server = servers.get(serverId);
  if (server?.serverName !== serverName) {
    server = { serverId, serverName, lists: new Map(), strings: new Map() };
    servers.set(serverId, server);
  }
  return server;
}

/** The value that another tool has already, if one has. */
function once<T>(known: Map<string, T>, key: string, value: T): T {
  const before = known.get(key);
  if (before === undefined) known.set(key, value);
  return before ?? value;
}

function isSame(a: CatalogueTool, b: CatalogueTool): boolean {
  return (
    a.name === b.name &&
    a.contentHash === b.contentHash &&
    isSameWithheld(a.withheld, b.withheld) &&
    a.isClassified === b.isClassified &&
    a.classifiedBy === b.classifiedBy &&
    a.primarySkillId === b.primarySkillId &&
    a.skillIds.length === b.skillIds.length &&
    a.skillIds.every((id, i) => id === b.skillIds[i])
  );
}
