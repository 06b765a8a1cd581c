import {
  type AllTools,
  type CatalogueServer,
  type CatalogueSnapshot,
  type CatalogueTool,
  indexTools,
  type ToolIndexes,
} from '@app/catalogue';

/** The part of a catalogue that a view offers. Indexes are made when they are first read. */
export class OfferedCatalogue implements CatalogueSnapshot {
  readonly version: number;
  readonly isPart = true;
  private indexes: AllTools | undefined;
  private byId: ToolIndexes['toolsById'] | undefined;
  private shownServers: ReadonlyMap<string, CatalogueServer> | undefined;
  private byName: ReadonlyMap<string, CatalogueServer> | undefined;

  constructor(
    private readonly whole: CatalogueSnapshot,
    readonly tools: readonly CatalogueTool[],
    private readonly withheldTools: readonly CatalogueTool[],
    private readonly mayOffer: (serverId: string) => boolean,
  ) {
    this.version = whole.version;
  }

  get servers(): ReadonlyMap<string, CatalogueServer> {
    return (this.shownServers ??= this.selectServers());
  }

  get serversByName(): ReadonlyMap<string, CatalogueServer> {
    return (this.byName ??= new Map(
      [...this.servers.values()].map((server) => [server.name, server]),
    ));
  }

  get toolsById(): ToolIndexes['toolsById'] {
    // Every search reads it, and nothing else.
    return (this.byId ??= new Map(this.tools.map((tool) => [tool.id, tool])));
  }

  get toolsByName(): ToolIndexes['toolsByName'] {
    return this.indexed.toolsByName;
  }

  get toolsByServer(): ToolIndexes['toolsByServer'] {
    return this.indexed.toolsByServer;
  }

  get toolsByOriginalName(): ToolIndexes['toolsByOriginalName'] {
    return this.indexed.toolsByOriginalName;
  }

  /** That a tool is withheld is told to those whom it would be offered to. */
  get withheld(): ToolIndexes {
    return this.indexed.withheld;
  }

  private get indexed(): AllTools {
    return (this.indexes ??= indexTools([...this.tools, ...this.withheldTools]));
  }

  /** A server without an offered tool is known to clients only if a rule is about it. */
  private selectServers(): ReadonlyMap<string, CatalogueServer> {
    const counts = countsOf(this.tools);
    const withheld = countsOf(this.withheldTools);
    const shown = new Map<string, CatalogueServer>();
    for (const [id, server] of this.whole.servers) {
      const toolCount = counts.get(id) ?? 0;
      if (toolCount > 0 || this.mayOffer(id))
        shown.set(id, { ...server, toolCount, withheldCount: withheld.get(id) ?? 0 });
    }
    return shown;
  }
}

function countsOf(tools: readonly CatalogueTool[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { serverId } of tools) counts.set(serverId, (counts.get(serverId) ?? 0) + 1);
  return counts;
}
