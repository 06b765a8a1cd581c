import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { atOnce, backoffMs, Clock, FailPoints, inSlices, Retries, Signals } from '@app/platform';
import { ListServers } from '@app/registry';
import { changeBetween, type Stale, StaleRows, toRead, versionsOf } from './catalogue-change.js';
import {
  type AllTools,
  type CatalogueSnapshot,
  type CatalogueTool,
  indexServers,
  type ShownServer,
} from './catalogue-snapshot.js';
import { indexing, indexTools, reindexing } from './snapshot/index-tools.js';
import { type HeldTools, ToolStore } from './tool.store.js';

/** Resolves when the listeners have processed the new snapshot. */
type Heard = Promise<void>;

/** The tools of the next snapshot, and the ids of those that differ from the last one. */
interface ShownTools {
  readonly tools: AllTools;
  readonly touched: ReadonlySet<number>;
}

const NOTHING = indexTools([]);
/** So many changes are indexed at once, without a turn of the event loop. */
const FEW = 200;
/** If a larger share of all tools changes, the next indexes are made from all tools. */
const MOST = 0.25;
const RETRY = { firstMs: 250, longestMs: 30_000 };

/**
 * In-memory snapshot of the rows that search, lists and calls read instead of the database. After a write the
 * writer passes the changed rows and awaits the refresh (contract R39). Reads start after the commit and run one
 * at a time, so an earlier state never replaces a later one. Rows that could not be read are read again with
 * growing waits, and by every refresh before that.
 */
@Injectable()
export class Catalogue implements OnModuleDestroy {
  private readonly logger = new Logger(Catalogue.name);
  private snapshot: CatalogueSnapshot = { version: 0, ...NOTHING, ...indexServers([], NOTHING) };
  /** Of the servers' rows that the snapshot shows. */
  private versions = new Map<string, number>();
  private last: Promise<unknown> = Promise.resolve();
  /** Rows whose last read failed. */
  private unread: StaleRows | undefined;
  private readonly retries: Retries;
  private next: { readonly stale: StaleRows; readonly read: Promise<{ heard: Heard }> } | undefined;

  constructor(
    private readonly queries: QueryBus,
    private readonly store: ToolStore,
    private readonly signals: Signals,
    private readonly failPoints: FailPoints,
    clock: Clock,
  ) {
    this.retries = new Retries(clock, (failures) => backoffMs(failures, RETRY));
  }

  onModuleDestroy(): void {
    this.retries.stop();
  }

  get current(): CatalogueSnapshot {
    return this.snapshot;
  }

  /** Reloads names and statuses of all servers; the tools are kept. */
  reloadServers(): Promise<void> {
    return this.refresh({ servers: 'all' });
  }

  /** Reloads all servers, and the tools of the given ones (of all servers by default). */
  reload(serverIds?: readonly string[]): Promise<void> {
    return this.refresh({ servers: 'all', toolsOf: serverIds ?? 'all' });
  }

  /** Resolves when the catalogue and its listeners show these rows as they are now or later. */
  refresh(stale: Stale): Promise<void> {
    if (!this.next) {
      const read = this.last.then(() => this.readNext());
      this.next = { stale: new StaleRows(), read };
      this.last = read.catch(() => undefined);
    }
    this.next.stale.add(stale);
    return this.next.read.then(({ heard }) => heard);
  }

  private async readNext(): Promise<{ heard: Heard }> {
    const stale = this.next?.stale ?? new StaleRows();
    this.next = undefined;
    if (this.unread) stale.addUnread(this.unread);
    try {
      const servers = await this.readServers(stale);
      const tools = await this.readTools(stale, servers);
      this.unread = undefined;
      this.retries.clear('rows');
      return { heard: this.replace(servers, tools) };
    } catch (error) {
      this.unread = stale;
      this.readAgain();
      throw error;
    }
  }

  private readAgain(): void {
    // A failure is scheduled and reported like this one.
    const waitMs = this.retries.schedule('rows', () => this.refresh({}).catch(() => undefined));
    this.logger.warn({ retry_in_ms: waitMs }, 'catalogue.refresh_failed');
  }

  private async readServers(stale: StaleRows): Promise<readonly ShownServer[]> {
    if (stale.servers === 'all') {
      const all = await this.queries.execute(new ListServers());
      this.versions = versionsOf(all);
      return all;
    }
    const { ids, later } = toRead(stale.servers, stale.written.values(), this.versions);
    const read = ids.size > 0 ? await this.queries.execute(new ListServers({ ids: [...ids] })) : [];
    for (const id of ids) this.versions.delete(id);
    for (const { id, version } of [...read, ...later]) this.versions.set(id, version);
    const isKept = ({ id }: ShownServer): boolean =>
      !ids.has(id) && !later.some((server) => server.id === id);
    return [...[...this.snapshot.servers.values()].filter(isKept), ...read, ...later];
  }

  /** Drops tools of removed servers; unchanged tools keep their object identity. */
  private async readTools(stale: StaleRows, servers: readonly ShownServer[]): Promise<ShownTools> {
    const registered = new Set(['', ...servers.map(({ id }) => id)]);
    const held = this.snapshot;
    const read = stale.hasTools ? await this.store.read(stale, allOf(held)) : [];
    if (stale.hasTools) this.failPoints.pass('catalogue.read');
    const now = new Map<number, CatalogueTool>();
    for (const tool of read) if (registered.has(tool.serverId)) now.set(tool.id, tool);
    const removed = staleTools(held, stale, registered).filter((tool) => now.get(tool.id) !== tool);
    const added = [...now.values()].filter((tool) => toolOf(held, tool.id) !== tool);
    const touched = new Set([...added, ...removed].map(({ id }) => id));
    if (touched.size === 0) return { tools: held, touched };
    const isMost = touched.size > MOST * held.tools.length;
    const work = isMost
      ? indexing([...keptTools(held, removed), ...added])
      : reindexing(held, removed, added);
    return { tools: await (touched.size > FEW ? inSlices(work) : atOnce(work)), touched };
  }

  private replace(servers: readonly ShownServer[], { tools, touched }: ShownTools): Heard {
    const previous = this.snapshot;
    const next: CatalogueSnapshot = {
      version: previous.version + 1,
      ...indexServers(servers, tools),
      tools: tools.tools,
      toolsById: tools.toolsById,
      toolsByName: tools.toolsByName,
      toolsByServer: tools.toolsByServer,
      toolsByOriginalName: tools.toolsByOriginalName,
      withheld: tools.withheld,
    };
    const change = changeBetween(previous, next, touched);
    if (!change) return Promise.resolve();
    this.snapshot =
      change.serverIds.length > 0
        ? next
        : { ...next, servers: previous.servers, serversByName: previous.serversByName };
    return this.signals.tell(change);
  }
}

/** The withheld ones too: read as new ones, they would be another snapshot. */
function allOf(held: AllTools): HeldTools {
  return {
    get: (id) => toolOf(held, id),
    has: (id) => toolOf(held, id) !== undefined,
    size: held.toolsById.size + held.withheld.toolsById.size,
  };
}

function toolOf({ toolsById, withheld }: AllTools, id: number): CatalogueTool | undefined {
  return toolsById.get(id) ?? withheld.toolsById.get(id);
}

/** What is shown of stale rows and of servers that are no longer registered. */
function staleTools(
  held: AllTools,
  { toolsOf, tools }: StaleRows,
  registered: ReadonlySet<string>,
): CatalogueTool[] {
  const shown = new Set<CatalogueTool>();
  for (const { toolsByServer } of [held, held.withheld]) {
    for (const serverId of toolsByServer.keys()) {
      const isStale = toolsOf === 'all' || toolsOf.has(serverId) || !registered.has(serverId);
      for (const tool of (isStale && toolsByServer.get(serverId)) || []) shown.add(tool);
    }
  }
  for (const id of tools) {
    const tool = toolOf(held, id);
    if (tool) shown.add(tool);
  }
  return [...shown];
}

function keptTools(held: AllTools, removed: readonly CatalogueTool[]): CatalogueTool[] {
  const gone = new Set(removed);
  return [...held.tools, ...held.withheld.tools].filter((tool) => !gone.has(tool));
}
