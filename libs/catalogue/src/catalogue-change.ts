import { CatalogueReplaced, type WrittenServer } from '@app/events';
import { isWithdrawn } from '@app/registry';
import { type CatalogueSnapshot, type CatalogueTool, isSameServer } from './catalogue-snapshot.js';

/** Rows that were written and have to be read again. */
export interface Stale {
  /** Ids, or all. */
  readonly servers?: readonly string[] | 'all';
  /** Ids of servers whose tools are read; `all` includes the aggregator's own tools. */
  readonly toolsOf?: readonly string[] | 'all';
  /** Ids of tools. */
  readonly tools?: readonly number[];
  /** A server's row as it was written; it is read again only if the catalogue cannot tell whether it is the latest. */
  readonly written?: WrittenServer | undefined;
}

/** Collects refresh requests that arrive during a read, so that one read serves all of them. */
export class StaleRows {
  servers: Set<string> | 'all' = new Set();
  toolsOf: Set<string> | 'all' = new Set();
  readonly tools = new Set<number>();
  readonly written = new Map<string, WrittenServer>();

  add({ servers = [], toolsOf = [], tools = [], written }: Stale): void {
    this.servers = union(this.servers, servers);
    this.toolsOf = union(this.toolsOf, toolsOf);
    for (const id of tools) this.tools.add(id);
    if (written && written.version > (this.written.get(written.id)?.version ?? 0)) {
      this.written.set(written.id, written);
    }
  }

  /** Of a read that failed; written rows are read again, because their versions count as shown. */
  addUnread({ servers, toolsOf, tools, written }: StaleRows): void {
    this.servers = union(union(this.servers, servers), written.keys());
    this.toolsOf = union(this.toolsOf, toolsOf);
    for (const id of tools) this.tools.add(id);
  }

  get hasTools(): boolean {
    return this.toolsOf === 'all' || this.toolsOf.size + this.tools.size > 0;
  }

  includesServer(id: string): boolean {
    return this.servers === 'all' || this.servers.has(id);
  }

  includesTool({ id, serverId }: Pick<CatalogueTool, 'id' | 'serverId'>): boolean {
    return this.toolsOf === 'all' || this.toolsOf.has(serverId) || this.tools.has(id);
  }
}

function union(known: Set<string> | 'all', more: Iterable<string> | 'all'): Set<string> | 'all' {
  return known === 'all' || more === 'all' ? 'all' : new Set([...known, ...more]);
}

export function versionsOf(
  servers: readonly Pick<WrittenServer, 'id' | 'version'>[],
): Map<string, number> {
  return new Map(servers.map(({ id, version }) => [id, version]));
}

/**
 * Which servers have to be read, and which written rows can be shown without that. A row that is not later than the
 * one shown is ignored. A server that is not shown may have been removed since, so only its first row is shown unread.
 */
export function toRead(
  servers: ReadonlySet<string>,
  written: Iterable<WrittenServer>,
  shown: ReadonlyMap<string, number>,
): { readonly ids: Set<string>; readonly later: readonly WrittenServer[] } {
  const ids = new Set(servers);
  const later: WrittenServer[] = [];
  for (const server of written) {
    const version = shown.get(server.id);
    if (ids.has(server.id)) continue;
    if (version === undefined && server.version > 1) ids.add(server.id);
    else if (server.version > (version ?? 0)) later.push(server);
  }
  return { ids, later };
}

/** `touched` are the ids of all tools that differ. Undefined when both snapshots show the same. */
export function changeBetween(
  before: CatalogueSnapshot,
  next: CatalogueSnapshot,
  touched: ReadonlySet<number>,
): CatalogueReplaced | undefined {
  const serverIds = changedServers(before, next);
  const written: number[] = [];
  const classified: number[] = [];
  const removed: number[] = [];
  for (const id of touched) {
    const tool = next.toolsById.get(id);
    const known = before.toolsById.get(id);
    if (!tool) {
      if (known) removed.push(id);
    } else if (tool !== known) (isSameText(tool, known) ? classified : written).push(id);
  }
  const changes = serverIds.length + written.length + classified.length + removed.length;
  // Another reason why tools are withheld changes nothing that clients see, but the snapshot.
  if (changes === 0 && next.withheld.tools === before.withheld.tools) return undefined;
  const withdrawn = serverIds.filter((id) => {
    const server = next.servers.get(id);
    return server !== undefined && isWithdrawn(server.status);
  });
  return new CatalogueReplaced(serverIds, written, classified, removed, withdrawn);
}

function changedServers(before: CatalogueSnapshot, next: CatalogueSnapshot): string[] {
  if (next.servers === before.servers) return [];
  const other = [...next.servers.values()].filter(
    (server) => !isSameServer(server, before.servers.get(server.id)),
  );
  const gone = [...before.servers.keys()].filter((id) => !next.servers.has(id));
  return [...other.map(({ id }) => id), ...gone];
}

function isSameText(a: CatalogueTool, b: CatalogueTool | undefined): boolean {
  return a.name === b?.name && a.contentHash === b.contentHash;
}
