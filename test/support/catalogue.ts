import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import type { JsonObject } from '@app/platform';
import { createHash } from 'node:crypto';

export interface PicturedServer {
  readonly name: string;
  readonly status?: CatalogueServer['status'];
  readonly credentials?: CatalogueServer['credentials'];
  readonly tools: readonly (string | (JsonObject & { readonly name: string }))[];
}

/** Ids are derived from names, so that tests can name them. */
export function serverIdOf(name: string): string {
  const hex = createHash('md5').update(name).digest('hex');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A catalogue as discovery keeps it; servers are registered in the order given. */
export function catalogueOf(pictured: readonly PicturedServer[]): CatalogueSnapshot {
  const servers = pictured.map(
    ({ name, status = 'CONNECTED', credentials = 'shared', tools }, i): CatalogueServer => ({
      id: serverIdOf(name),
      name,
      description: null,
      status,
      errorMessage: null,
      listFailures: {},
      trust: null,
      credentials,
      toolCount: tools.length,
      withheldCount: 0,
      registeredAt: new Date(i),
    }),
  );
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
    toolsByServer: new Map(
      servers.map(({ id }) => [id, tools.filter((tool) => tool.serverId === id)]),
    ),
    toolsByOriginalName,
    withheld: NONE_WITHHELD,
  };
}

export const NONE_WITHHELD: CatalogueSnapshot['withheld'] = {
  tools: [],
  toolsById: new Map(),
  toolsByName: new Map(),
  toolsByServer: new Map(),
  toolsByOriginalName: new Map(),
};

/** A tool of the catalogue with these fields; the others have plain defaults. */
export function catalogueTool({
  id = 1,
  ...more
}: Partial<CatalogueTool> & Pick<CatalogueTool, 'name' | 'originalName'>): CatalogueTool {
  return {
    id,
    serverId: 's',
    serverName: 'server',
    title: null,
    description: '',
    inputSchema: {},
    definition: {},
    isExternal: true,
    contentHash: String(id),
    withheld: null,
    skillIds: [],
    primarySkillId: null,
    isClassified: false,
    classifiedBy: null,
    discoveredAt: new Date(0),
    ...more,
  };
}

function toolOf(id: number, server: string, tool: PicturedServer['tools'][number]): CatalogueTool {
  const definition = typeof tool === 'string' ? { name: tool, inputSchema: {} } : tool;
  return catalogueTool({
    id,
    name: `${server}.${definition.name}`,
    originalName: definition.name,
    serverId: serverIdOf(server),
    serverName: server,
    definition,
  });
}
