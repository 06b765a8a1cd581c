import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/discovery';
import type { VectorFilter } from '@app/vectors';

export interface ScopeFilter {
  /** Unless false. */
  readonly includeExternal?: boolean | undefined;
  /** Names; undefined for all. */
  readonly servers?: readonly string[] | undefined;
}

export interface ExcludedServer {
  readonly name: string;
  readonly status: string;
  readonly toolCount: number;
  readonly reason: string;
}

/** What a search looks at, and what it does not, so that absence is explained (RULINGS R24). */
export interface Scope {
  readonly tools: ReadonlySet<number>;
  /** The same for a vector index. */
  readonly filter: VectorFilter;
  readonly servers: readonly CatalogueServer[];
  readonly externalTools: number;
  readonly excluded: readonly ExcludedServer[];
}

/** Most searches have the same scope as the one before, and at 100,000 tools it takes a while to draw. */
const drawn = new WeakMap<CatalogueSnapshot, Map<string, Scope>>();
const MAX_DRAWN = 16;

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
    ...candidates.filter((server) => !isSearchable(server)).map(exclusionOf),
    ...unknown.map((name) => ({
      name,
      status: 'UNKNOWN',
      toolCount: 0,
      reason: 'No server of this name is registered',
    })),
  ].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { tools, filter: { source_server_id: [...owners] }, servers, externalTools, excluded };
}

/** Own tools belong to no server, so a filter by servers leaves them out. */
function internalCounts(tool: CatalogueTool, named: ReadonlySet<string> | undefined): boolean {
  return !named || named.has(tool.serverName);
}

function isSearchable(server: CatalogueServer): boolean {
  return server.status === 'CONNECTED' || server.status === 'DEGRADED';
}

function exclusionOf(server: CatalogueServer): ExcludedServer {
  const { name, status, toolCount } = server;
  return { name, status, toolCount, reason: reasonOf(server) };
}

function reasonOf({ status, errorMessage }: CatalogueServer): string {
  switch (status) {
    case 'DISCONNECTED':
      return 'It is disconnected; connect it to search its tools';
    case 'CONNECTING':
      return 'It is being connected';
    case 'ERROR':
      return errorMessage ?? 'It cannot be reached';
    case 'CONNECTED':
    case 'DEGRADED':
      return 'It is available';
    default:
      return status satisfies never;
  }
}
