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
  /** Nearly the same as a filter for a vector index. */
  readonly filter: VectorFilter;
  /** The tools, if the filter lets others pass. */
  readonly among: ReadonlySet<number> | undefined;
  readonly servers: readonly CatalogueServer[];
  readonly externalTools: number;
  readonly excluded: readonly ExcludedServer[];
  /** By servers. */
  readonly isFiltered: boolean;
}

/** Cache: most searches repeat the last scope, which takes long to compute for 100,000 tools. */
const drawn = new WeakMap<CatalogueSnapshot, Map<string, Scope>>();
/** Scopes with a filter of servers that are kept beside the two others, and the tools of such a scope: 40 bytes each. */
const MAX_FILTERED = 14;
const MAX_FILTERED_TOOLS = 10_000;
/** Tools that are named in a filter of the vector index. */
const MAX_NAMED = 1_000;

export function scopeOf(snapshot: CatalogueSnapshot, filter: ScopeFilter): Scope {
  const key = JSON.stringify([filter.includeExternal !== false, filter.servers?.toSorted()]);
  let scopes = drawn.get(snapshot);
  if (!scopes) drawn.set(snapshot, (scopes = new Map()));
  const known = scopes.get(key);
  if (known) return known;
  const scope = drawScope(snapshot, filter);
  if (filter.servers === undefined) return keep(scopes, key, scope);
  if (scope.tools.size > MAX_FILTERED_TOOLS) return scope;
  const filtered = [...scopes].filter(([, { isFiltered }]) => isFiltered);
  const [oldest] = filtered.length < MAX_FILTERED ? [] : filtered;
  if (oldest) scopes.delete(oldest[0]);
  return keep(scopes, key, scope);
}

function keep(scopes: Map<string, Scope>, key: string, scope: Scope): Scope {
  scopes.set(key, scope);
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
  const among = snapshot.isPart ? tools : undefined;
  const isFiltered = filter.servers !== undefined;
  return { tools, filter: indexFilter, among, servers, externalTools, excluded, isFiltered };
}

/** Whether a tool is meant, whatever the status of its server; made once for many tools. */
export function testOf({
  includeExternal,
  servers,
}: ScopeFilter): (tool: CatalogueTool) => boolean {
  const named = servers && new Set(servers);
  return ({ isExternal, serverName }) =>
    (includeExternal !== false || !isExternal) && (!named || named.has(serverName));
}

/** A filter for a vector index that lets these tools pass, and few others. */
export function filterOf(tools: readonly CatalogueTool[]): VectorFilter {
  const owners = [...new Set(tools.map(({ serverId }) => serverId))];
  return { source_server_id: owners, ...namesIn({ isPart: true, tools }) };
}

/**
 * The best of all tools of a server may all be hidden from a view of a few, so that the index has to look among those.
 * Of a larger part an index outside of this process finds fewer.
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
