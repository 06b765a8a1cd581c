import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/discovery';
import type { JsonObject } from '@app/platform';
import { createHash } from 'node:crypto';

export interface PicturedServer {
  readonly name: string;
  readonly status?: CatalogueServer['status'];
  readonly tools: readonly (string | (JsonObject & { readonly name: string }))[];
}

/** Ids follow from names, so that tests can say them. */
export function serverIdOf(name: string): string {
  const hex = createHash('md5').update(name).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A catalogue as discovery would keep it. */
export function catalogueOf(pictured: readonly PicturedServer[]): CatalogueSnapshot {
  const servers = pictured.map(({ name, status = 'CONNECTED', tools }): CatalogueServer => ({
    id: serverIdOf(name),
    name,
    description: null,
    status,
    errorMessage: null,
    toolCount: tools.length,
  }));
  const tools = pictured
    .flatMap((server) => server.tools.map((tool) => [server.name, tool] as const))
    .map(([server, tool], i) => toolOf(i + 1, server, tool))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const toolsByOriginalName = new Map<string, CatalogueTool[]>();
  for (const tool of tools) {
    const same = toolsByOriginalName.get(tool.originalName) ?? [];
    toolsByOriginalName.set(tool.originalName, [...same, tool]);
  }
  return {
    version: 1,
    servers: new Map(servers.map((server) => [server.id, server])),
    serversByName: new Map(servers.map((server) => [server.name, server])),
    tools,
    toolsById: new Map(tools.map((tool) => [tool.id, tool])),
    toolsByName: new Map(tools.map((tool) => [tool.name, tool])),
    toolsByOriginalName,
  };
}

function toolOf(id: number, server: string, tool: PicturedServer['tools'][number]): CatalogueTool {
  const definition = typeof tool === 'string' ? { name: tool, inputSchema: {} } : tool;
  return {
    id,
    name: `${server}.${definition.name}`,
    originalName: definition.name,
    serverId: serverIdOf(server),
    serverName: server,
    title: null,
    description: '',
    inputSchema: {},
    definition,
    isExternal: true,
    contentHash: String(id),
    skillIds: [],
    primarySkillId: null,
    isClassified: false,
    discoveredAt: new Date(0),
  };
}
