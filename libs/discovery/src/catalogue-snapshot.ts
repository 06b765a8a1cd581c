import type { JsonObject } from '@app/platform';
import type { Server, ServerStatus } from '@app/registry';
import { createHash } from 'node:crypto';

export interface CatalogueTool {
  readonly id: number;
  /** `server.tool`, the name in storage and REST; its plain name for one of the aggregator itself. */
  readonly name: string;
  readonly originalName: string;
  /** Both empty for a tool of the aggregator itself. */
  readonly serverId: string;
  readonly serverName: string;
  readonly title: string | null;
  readonly description: string;
  readonly inputSchema: JsonObject;
  /** What the server listed, unchanged. */
  readonly definition: JsonObject;
  readonly isExternal: boolean;
  readonly contentHash: string;
  readonly skillIds: readonly string[];
  readonly primarySkillId: string | null;
  readonly isClassified: boolean;
  readonly discoveredAt: Date;
}

export interface CatalogueServer {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly status: ServerStatus;
  readonly errorMessage: string | null;
  readonly toolCount: number;
}

/** Servers and tools at one moment. Never edited: a change makes the next one. */
export interface CatalogueSnapshot {
  readonly version: number;
  readonly servers: ReadonlyMap<string, CatalogueServer>;
  readonly serversByName: ReadonlyMap<string, CatalogueServer>;
  /** Of all servers, available or not, and of the aggregator itself; by name. */
  readonly tools: readonly CatalogueTool[];
  readonly toolsById: ReadonlyMap<number, CatalogueTool>;
  readonly toolsByName: ReadonlyMap<string, CatalogueTool>;
  /** Of servers only. */
  readonly toolsByOriginalName: ReadonlyMap<string, readonly CatalogueTool[]>;
}

export type ToolIndexes = Pick<
  CatalogueSnapshot,
  'tools' | 'toolsById' | 'toolsByName' | 'toolsByOriginalName'
>;

export function toCatalogueServer(server: Server): CatalogueServer {
  const { id, name, description, status, errorMessage, toolCount } = server;
  return { id, name, description, status, errorMessage, toolCount };
}

/** Of each server's tools, '' for the aggregator's own, what the catalogue shows: tells where rows differ. */
export function digestsOf(tools: readonly CatalogueTool[]): ReadonlyMap<string, string> {
  const byServer = new Map<string, CatalogueTool[]>();
  for (const tool of tools) {
    const same = byServer.get(tool.serverId);
    if (same) same.push(tool);
    else byServer.set(tool.serverId, [tool]);
  }
  return new Map([...byServer].map(([serverId, own]) => [serverId, digestOf(own)]));
}

/** As `ToolStore.digests` writes it. */
function digestOf(tools: readonly CatalogueTool[]): string {
  const lines = tools
    .toSorted((a, b) => a.id - b.id)
    .map(({ id, name, contentHash, isClassified, skillIds }) =>
      [id, name, contentHash, isClassified ? 't' : 'f', skillIds.join(',')].join(' '),
    );
  return createHash('md5').update(lines.join(';')).digest('hex');
}

export function indexTools(unordered: readonly CatalogueTool[]): ToolIndexes {
  const tools = unordered.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const toolsByOriginalName = new Map<string, CatalogueTool[]>();
  for (const tool of tools.filter(({ isExternal }) => isExternal)) {
    const same = toolsByOriginalName.get(tool.originalName);
    if (same) same.push(tool);
    else toolsByOriginalName.set(tool.originalName, [tool]);
  }
  return {
    tools,
    toolsById: new Map(tools.map((tool) => [tool.id, tool])),
    toolsByName: new Map(tools.map((tool) => [tool.name, tool])),
    toolsByOriginalName,
  };
}
