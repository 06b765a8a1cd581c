import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import type { VectorFilter } from '@app/vectors';

export interface ScopeFilter {
  /** Defaults to true. */
  readonly includeExternal?: boolean | undefined;
  /** Server names; undefined for all. */
  readonly servers?: readonly string[] | undefined;
}

export interface ExcludedServer {
  readonly name: string;
  readonly status: string;
  readonly toolCount: number;
  readonly reason: string;
}

/** The tools a search covers, and the servers it excludes with the reason (contract R24). */
export interface Scope {
  readonly tools: ReadonlySet<number>;
  /** The same as a filter for a vector index. */
  readonly filter: VectorFilter;
  readonly servers: readonly CatalogueServer[];
  readonly externalTools: number;
  readonly excluded: readonly ExcludedServer[];
}

/** Cache: most searches repeat the last scope, which takes long to compute for 100,000 tools. */
const drawn = new WeakMap<CatalogueSnapshot, Map<string, Scope>>();
const MAX_DRAWN = 16;
/** Tools that are named in a filter of the vector index. */
const MAX_NAMED = 1_000;

export function scopeOf(snapshot: CatalogueSnapshot, filter: ScopeFilter): Scope {
  const key = JSON.stringify([filter.includeExternal !== false, filter.servers?.toSorted()]);
  const scopes = drawn.get(snapshot) ?? new Map<string, Scope>();
  const scope = scopes.get(key) ?? drawScope(snapshot, filter);
  if (scopes.size >= MAX_DRAWN) scopes.clear();
  drawn.set(snapshot, scopes.set(key, scope));
  return scope;
}

function drawScope(snapshot: CatalogueSnapshot, filter: ScopeFilter): Scope {
  const named = filter.servers && new Set(filter.servers);
  const candidates = [...snapshot.servers.values()].filter(
    (server) => filter.includeExternal !== false && (!named || named.has(server.name)),
  );
  const servers = candidates.filter(isSearchable);
  const searched = new Set(servers.map((server) => server.id));
  const tools = new Set<number>();
  const owners = new Set(searched);
  let externalTools = 0;
  for (const tool of snapshot.tools) {
    if (tool.isExternal ? !searched.has(tool.serverId) : !internalCounts(tool, named)) continue;
    tools.add(tool.id);
    owners.add(tool.serverId);
    if (tool.isExternal) externalTools++;
  }
  const unknown = [...(named ?? [])].filter((name) => !snapshot.serversByName.has(name));
  const excluded = [
    ...candidates.filter((server) => !isSearchable(server) || isUnlisted(server)).map(exclusionOf),
    ...unknown.map((name) => ({
      name,
      status: 'UNKNOWN',
      toolCount: 0,
      reason: 'No server of this name is registered',
    })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  const indexFilter = { source_server_id: [...owners], ...namesIn(snapshot) };
  return { tools, filter: indexFilter, servers, externalTools, excluded };
}

/** Whether a tool is meant, whatever the status of its server. */
export function isInFilter(
  tool: CatalogueTool,
  { includeExternal, servers }: ScopeFilter,
): boolean {
  if (tool.isExternal && includeExternal === false) return false;
  return !servers || servers.includes(tool.serverName);
}

/** A filter for a vector index that lets these tools pass, and few others. */
export function filterOf(tools: readonly CatalogueTool[]): VectorFilter {
  const owners = [...new Set(tools.map(({ serverId }) => serverId))];
  return { source_server_id: owners, ...namesIn({ isPart: true, tools }) };
}

/**
 * The best of all tools of a server may all be hidden from a view of a few, so that the index has to look among those.
 * Of a larger part enough are found.
 */
function namesIn({ isPart, tools }: Pick<CatalogueSnapshot, 'isPart' | 'tools'>): VectorFilter {
  if (!isPart || tools.length > MAX_NAMED) return {};
  return { original_name: [...new Set(tools.map(({ originalName }) => originalName))] };
}

/** Own tools belong to no server, so a server filter excludes them. */
function internalCounts(tool: CatalogueTool, named: ReadonlySet<string> | undefined): boolean {
  return !named || named.has(tool.serverName);
}

function isSearchable(server: CatalogueServer): boolean {
  return server.status === 'CONNECTED' || server.status === 'DEGRADED';
}

/** Its tools from before are searched; those that it has now are not known (contract R42). */
function isUnlisted(server: CatalogueServer): boolean {
  return server.listFailures.tools !== undefined;
}

function exclusionOf(server: CatalogueServer): ExcludedServer {
  const { name, status, toolCount } = server;
  return { name, status, toolCount, reason: reasonOf(server) };
}

function reasonOf({ status, errorMessage, listFailures }: CatalogueServer): string {
  switch (status) {
    case 'DISCONNECTED':
      return 'It is disconnected; connect it to search its tools';
    case 'DISCONNECTING':
      return 'It is being disconnected; connect it to search its tools';
    case 'CONNECTING':
      return 'It is being connected';
    case 'ERROR':
      return errorMessage ?? 'It cannot be reached';
    case 'CONNECTED':
    case 'DEGRADED':
      return `Its tools could not be listed: ${listFailures.tools}; those from before are searched`;
    default:
      return status satisfies never;
  }
}
