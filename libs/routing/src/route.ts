import {
  type CatalogueServer,
  type CatalogueSnapshot,
  type CatalogueTool,
  ToolNotFound,
  ToolWithheld,
} from '@app/catalogue';
import { canonicalName, MAX_WIRE_NAME, wireName } from '@app/mcp-protocol';
import { AppError } from '@app/platform';
import { isServing, ServerNotFound } from '@app/registry';
import { ServerUnavailable } from '@app/sessions';
import { OwnTool, RoutingFailed, ToolAmbiguous } from './routing.errors.js';

export interface Route {
  readonly tool: CatalogueTool;
  readonly server: CatalogueServer;
}

/**
 * Resolves a tool name (contract R29 and R31). With a server given it is an original name; otherwise a canonical
 * name, a wire name, or a bare name that only one tool has.
 */
export function resolveRoute(catalogue: CatalogueSnapshot, name: string, serverId?: string): Route {
  try {
    return findRoute(catalogue, name, serverId);
  } catch (error) {
    throw error instanceof AppError ? error : new RoutingFailed(error);
  }
}

function findRoute(catalogue: CatalogueSnapshot, name: string, serverId?: string): Route {
  const tool =
    serverId === undefined ? findAnywhere(catalogue, name) : findOn(catalogue, name, serverId);
  const server = tool && catalogue.servers.get(tool.serverId);
  if (server) return { tool, server };
  // Also while its server is down: trying again later does not help.
  const withheld = withheldTool(catalogue, name, serverId);
  if (withheld) throw new ToolWithheld(withheld);
  // The tools of a server are known only after its first connect, so a missing tool is reported as an unavailable
  // server.
  const meant = serverMeant(catalogue, name, serverId);
  if (meant && !isServing(meant.status)) throw new ServerUnavailable(meant);
  if (catalogue.toolsByName.get(name)?.isExternal === false) throw new OwnTool(name);
  throw new ToolNotFound(name);
}

/** Found by the same names as a tool that is offered. */
function withheldTool(
  catalogue: CatalogueSnapshot,
  name: string,
  serverId: string | undefined,
): CatalogueTool | undefined {
  if (catalogue.withheld.tools.length === 0) return undefined;
  const withheld = { ...catalogue, ...catalogue.withheld };
  return serverId === undefined ? findAnywhere(withheld, name) : findOn(withheld, name, serverId);
}

function serverMeant(
  catalogue: CatalogueSnapshot,
  name: string,
  serverId: string | undefined,
): CatalogueServer | undefined {
  if (serverId !== undefined) return catalogue.servers.get(serverId);
  const dot = name.indexOf('.');
  const byCanonicalName = dot < 0 ? undefined : catalogue.serversByName.get(name.slice(0, dot));
  return byCanonicalName ?? serverOfWireName(catalogue, name);
}

/** The longest name, because the part before a seam may itself contain one. */
function serverOfWireName(
  { serversByName }: CatalogueSnapshot,
  name: string,
): CatalogueServer | undefined {
  if (name.length > MAX_WIRE_NAME) return undefined;
  for (let seam = name.lastIndexOf('__'); seam > 0; seam = name.lastIndexOf('__', seam - 1)) {
    const server = serversByName.get(name.slice(0, seam));
    if (server) return server;
  }
  return undefined;
}

function findOn(
  catalogue: CatalogueSnapshot,
  name: string,
  serverId: string,
): CatalogueTool | undefined {
  const server = catalogue.servers.get(serverId);
  if (!server) throw new ServerNotFound(serverId);
  const renamed = renamedTool(catalogue, name);
  if (renamed) return renamed.serverId === serverId ? renamed : undefined;
  const own = catalogue.toolsByName.get(canonicalName(server.name, name));
  if (own) return own;
  const prefixed = [catalogue.toolsByName.get(name), toolWithWireName(catalogue, name)];
  return prefixed.find((tool) => tool?.serverId === serverId);
}

function findAnywhere(catalogue: CatalogueSnapshot, name: string): CatalogueTool | undefined {
  const renamed = renamedTool(catalogue, name);
  if (renamed) return renamed;
  const dot = name.indexOf('.');
  if (dot >= 0 && catalogue.serversByName.has(name.slice(0, dot))) {
    return catalogue.toolsByName.get(name);
  }
  const listed = toolWithWireName(catalogue, name);
  if (listed) return listed;
  const bare = catalogue.toolsByOriginalName.get(name) ?? [];
  if (bare.length <= 1) return bare[0];
  const [up, ...others] = bare.filter(({ serverId }) => isUp(catalogue, serverId));
  if (up && others.length === 0) return up;
  throw new ToolAmbiguous(name, bare);
}

/** A tool that a view offers under this name; it has no other. */
function renamedTool({ toolsByName }: CatalogueSnapshot, name: string): CatalogueTool | undefined {
  const tool = toolsByName.get(name);
  return tool?.offeredAs?.name === undefined ? undefined : tool;
}

function isUp({ servers }: CatalogueSnapshot, serverId: string): boolean {
  const server = servers.get(serverId);
  return server !== undefined && isServing(server.status);
}

const wireNames = new WeakMap<CatalogueTool, string>();

/** Cached per tool, because tools keep their object identity across snapshots. */
export function wireNameOf(tool: CatalogueTool): string {
  const known = wireNames.get(tool);
  if (known !== undefined) return known;
  const name =
    tool.isExternal && tool.offeredAs?.name === undefined
      ? wireName(tool.serverName, tool.originalName)
      : tool.name;
  wireNames.set(tool, name);
  return name;
}

/** Most wire names can be split back into server and tool; the others need an index, built on first use. */
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
