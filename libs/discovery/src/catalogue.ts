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
    return this.inTurn(async () => {
      const servers = await this.queries.execute(new ListServers());
      this.replace(servers, this.snapshot);
    });
  }

  /** Servers, and the tools of the named ones (of all, when none is named). */
  reload(serverIds?: readonly string[]): Promise<void> {
    return this.inTurn(async () => {
      const servers = await this.queries.execute(new ListServers());
      const loaded = await this.store.load(serverIds);
      this.failPoints.pass('catalogue.read');
      const kept = serverIds
        ? this.snapshot.tools.filter((tool) => !serverIds.includes(tool.serverId))
        : [];
      this.replace(servers, indexTools([...kept, ...loaded]));
    });
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

  private inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.last.then(work);
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
