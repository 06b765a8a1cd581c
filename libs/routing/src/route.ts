import type { CatalogueServer, CatalogueSnapshot, CatalogueTool } from '@app/discovery';
import { canonicalName, MAX_WIRE_NAME, wireName } from '@app/mcp';
import { isServing, ServerNotFound } from '@app/registry';
import { ServerUnavailable } from '@app/sessions';
import { OwnTool, ToolAmbiguous, ToolNotFound } from './routing.errors.js';

export interface Route {
  readonly tool: CatalogueTool;
  readonly server: CatalogueServer;
}

/**
 * Which tool of which server a name means (logic contract, RULINGS R29 and R31). With a server given the
 * name is the server's own; otherwise it is canonical, on the wire, or bare where only one tool has it.
 */
export function resolveRoute(catalogue: CatalogueSnapshot, name: string, serverId?: string): Route {
  const tool =
    serverId === undefined ? findAnywhere(catalogue, name) : findOn(catalogue, name, serverId);
  const server = tool && catalogue.servers.get(tool.serverId);
  if (server) return { tool, server };
  // What a server has is known only once it was connected: until then its absence proves nothing.
  const meant = serverMeant(catalogue, name, serverId);
  if (meant && !isServing(meant.status)) throw new ServerUnavailable(meant);
  if (catalogue.toolsByName.get(name)?.isExternal === false) throw new OwnTool(name);
  throw new ToolNotFound(name);
}

function serverMeant(
  catalogue: CatalogueSnapshot,
  name: string,
  serverId: string | undefined,
): CatalogueServer | undefined {
  if (serverId !== undefined) return catalogue.servers.get(serverId);
  const dot = name.indexOf('.');
  return dot < 0 ? undefined : catalogue.serversByName.get(name.slice(0, dot));
}

function findOn(
  catalogue: CatalogueSnapshot,
  name: string,
  serverId: string,
): CatalogueTool | undefined {
  const server = catalogue.servers.get(serverId);
  if (!server) throw new ServerNotFound(serverId);
  const own = catalogue.toolsByName.get(canonicalName(server.name, name));
  if (own) return own;
  const prefixed = [catalogue.toolsByName.get(name), toolWithWireName(catalogue, name)];
  return prefixed.find((tool) => tool?.serverId === serverId);
}

function findAnywhere(catalogue: CatalogueSnapshot, name: string): CatalogueTool | undefined {
  const dot = name.indexOf('.');
  if (dot >= 0 && catalogue.serversByName.has(name.slice(0, dot))) {
    return catalogue.toolsByName.get(name);
  }
  const listed = toolWithWireName(catalogue, name);
  if (listed) return listed;
  const bare = catalogue.toolsByOriginalName.get(name) ?? [];
  if (bare.length > 1) throw new ToolAmbiguous(name, bare);
  return bare[0];
}

const wireNames = new WeakMap<CatalogueTool, string>();

/** Tools live on from one snapshot to the next, and so do their names. */
export function wireNameOf(tool: CatalogueTool): string {
  const known = wireNames.get(tool);
  if (known !== undefined) return known;
  const name = tool.isExternal ? wireName(tool.serverName, tool.originalName) : tool.name;
  wireNames.set(tool, name);
  return name;
}

/** Nearly all can be read back; the others are in an index, which is made when one of them is asked for. */
function toolWithWireName(catalogue: CatalogueSnapshot, name: string): CatalogueTool | undefined {
  const seam = name.indexOf('__');
  if (seam < 0 || name.length > MAX_WIRE_NAME) return undefined;
  const plain = canonicalName(name.slice(0, seam), name.slice(seam + 2));
  const tool = catalogue.toolsByName.get(plain);
  if (tool?.isExternal && wireNameOf(tool) === name) return tool;
  return hashedWireNames(catalogue).get(name);
}

const hashedNames = new WeakMap<readonly CatalogueTool[], ReadonlyMap<string, CatalogueTool>>();

function hashedWireNames({ tools }: CatalogueSnapshot): ReadonlyMap<string, CatalogueTool> {
  let index = hashedNames.get(tools);
  if (!index) {
    const hashed = tools.filter(
      (tool) => tool.isExternal && wireNameOf(tool) !== `${tool.serverName}__${tool.originalName}`,
    );
    index = new Map(hashed.map((tool) => [wireNameOf(tool), tool]));
    hashedNames.set(tools, index);
  }
  return index;
}
