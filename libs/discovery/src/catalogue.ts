import { Injectable, Logger } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import { FailPoints } from '@app/platform';
import { ListServers, type Server } from '@app/registry';
import {
  type CatalogueSnapshot,
  indexTools,
  toCatalogueServer,
  type ToolIndexes,
} from './catalogue-snapshot.js';
import { ToolStore } from './tool.store.js';

export type CatalogueListener = (next: CatalogueSnapshot, previous: CatalogueSnapshot) => void;

/** The picture of the rows that searching, listing and calling read instead of the database. */
@Injectable()
export class Catalogue {
  private readonly logger = new Logger(Catalogue.name);
  private readonly listeners = new Set<CatalogueListener>();
  private snapshot: CatalogueSnapshot = {
    version: 0,
    servers: new Map(),
    serversByName: new Map(),
    ...indexTools([]),
  };
  /** Reloads take turns, so that a slow one never overwrites a later one. */
  private last: Promise<void> = Promise.resolve();
  private next:
    { readonly asked: ReadonlySet<string> | 'all'; readonly done: Promise<void> } | undefined;

  constructor(
    private readonly queries: QueryBus,
    private readonly store: ToolStore,
    private readonly failPoints: FailPoints,
  ) {}

  get current(): CatalogueSnapshot {
    return this.snapshot;
  }

  /** Called after each replacement; the returned function ends it. */
  subscribe(listener: CatalogueListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Only names and states of servers changed; the tools are as they were. */
  reloadServers(): Promise<void> {
    return this.request([]);
  }

  /** Servers, and the tools of the named ones (of all, when none is named). */
  reload(serverIds?: readonly string[]): Promise<void> {
    return this.request(serverIds ?? 'all');
  }

  /** What is asked for while rows are being read is read together afterwards. */
  private request(serverIds: readonly string[] | 'all'): Promise<void> {
    const asked = this.next?.asked;
    const all = serverIds === 'all' || asked === 'all';
    const together = all ? 'all' : new Set([...(asked ?? []), ...serverIds]);
    const done = this.next?.done ?? this.last.then(() => this.readNext());
    this.next = { asked: together, done };
    this.last = done.catch(() => undefined);
    return done;
  }

  private async readNext(): Promise<void> {
    const asked = this.next?.asked ?? new Set<string>();
    this.next = undefined;
    const servers = await this.queries.execute(new ListServers());
    if (asked !== 'all' && asked.size === 0) return this.replace(servers, this.snapshot);
    const loaded = await this.store.load(asked === 'all' ? undefined : [...asked]);
    this.failPoints.pass('catalogue.read');
    const kept =
      asked === 'all' ? [] : this.snapshot.tools.filter((tool) => !asked.has(tool.serverId));
    this.replace(servers, indexTools([...kept, ...loaded]));
  }

  private replace(servers: readonly Server[], tools: ToolIndexes): void {
    const previous = this.snapshot;
    const views = servers.map(toCatalogueServer);
    this.snapshot = {
      version: previous.version + 1,
      servers: new Map(views.map((server) => [server.id, server])),
      serversByName: new Map(views.map((server) => [server.name, server])),
      tools: tools.tools,
      toolsById: tools.toolsById,
      toolsByName: tools.toolsByName,
      toolsByOriginalName: tools.toolsByOriginalName,
    };
    for (const listener of this.listeners) {
      try {
        listener(this.snapshot, previous);
      } catch (error) {
        this.logger.error({ err: error }, 'a listener of the catalogue failed');
      }
    }
  }
}
