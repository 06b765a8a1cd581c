import { type CatalogueServer, type CatalogueSnapshot, type CatalogueTool } from '@app/catalogue';
import { type Sliced, sorting, tokensOf } from '@app/platform';
import { hasAnnotation, type RuleAnnotation } from '@app/policy';
import { isServing } from '@app/registry';

/** `ready`: it can be called. `unavailable`: its server is not connected. `withheld`: it waits for approval. */
export const toolStatuses = ['ready', 'unavailable', 'withheld'] as const;
export type ToolStatus = (typeof toolStatuses)[number];

/** Undefined members filter nothing. */
export interface ToolFilter {
  /** Name of a server. */
  readonly server?: string | undefined;
  readonly skill?: string | undefined;
  readonly isClassified?: boolean | undefined;
  readonly annotation?: RuleAnnotation | undefined;
  readonly status?: ToolStatus | undefined;
  /** A part of the name, the title or the description, in any case. */
  readonly text?: string | undefined;
}

export const toolOrders = [
  'name',
  '-name',
  'server',
  '-server',
  'tokens',
  '-tokens',
  'discovered_at',
  '-discovered_at',
] as const;
export type ToolOrder = (typeof toolOrders)[number];

/** Longer descriptions are looked through up to here. */
const MAX_SEARCHED_CHARS = 4_000;

export function statusOf(tool: CatalogueTool, server: CatalogueServer | undefined): ToolStatus {
  if (tool.withheld !== null) return 'withheld';
  return !tool.isExternal || (server && isServing(server.status)) ? 'ready' : 'unavailable';
}

/** In slices: 10,000 tools take some 30 ms. By name, as the catalogue has them; withheld tools only if asked for. */
export function* selectTools(
  { tools, withheld, servers }: CatalogueSnapshot,
  filter: ToolFilter,
): Sliced<CatalogueTool[]> {
  const isWanted = predicateOf(filter, servers);
  const selected: CatalogueTool[] = [];
  for (const tool of filter.status === 'withheld' ? withheld.tools : tools) {
    yield;
    if (tool.isExternal && isWanted(tool)) selected.push(tool);
  }
  return selected;
}

function predicateOf(
  { server, skill, isClassified, annotation, status, text }: ToolFilter,
  servers: CatalogueSnapshot['servers'],
): (tool: CatalogueTool) => boolean {
  const wanted = text?.toLowerCase();
  return (tool) =>
    (server === undefined || tool.serverName === server) &&
    (skill === undefined || tool.skillIds.includes(skill)) &&
    (isClassified === undefined || tool.isClassified === isClassified) &&
    (annotation === undefined || hasAnnotation(tool, annotation)) &&
    (status === undefined || statusOf(tool, servers.get(tool.serverId)) === status) &&
    (wanted === undefined || contains(tool, wanted));
}

function contains({ name, title, description }: CatalogueTool, wanted: string): boolean {
  if (name.toLowerCase().includes(wanted)) return true;
  if (title?.toLowerCase().includes(wanted)) return true;
  return description.slice(0, MAX_SEARCHED_CHARS).toLowerCase().includes(wanted);
}

/** In slices: the tokens of 10,000 definitions take 100 ms the first time. */
export function* inOrder(
  tools: readonly CatalogueTool[],
  order: ToolOrder,
): Sliced<readonly CatalogueTool[]> {
  const isDescending = order.startsWith('-');
  const key = isDescending ? order.slice(1) : order;
  if (key === 'name') return isDescending ? tools.toReversed() : tools;
  const keys = new Map<CatalogueTool, string | number>();
  for (const tool of tools) {
    yield;
    keys.set(tool, keyOf(tool, key));
  }
  const sign = isDescending ? -1 : 1;
  // Equal ones stay ordered by name.
  return yield* sorting(tools, (a, b) => {
    const [one, other] = [keys.get(a) ?? 0, keys.get(b) ?? 0];
    return one < other ? -sign : one > other ? sign : 0;
  });
}

function keyOf(tool: CatalogueTool, key: string): string | number {
  if (key === 'server') return tool.serverName;
  return key === 'tokens' ? tokenCostOf(tool) : tool.discoveredAt.getTime();
}

/** Cache: a tool is another object when its definition changes. */
const costs = new WeakMap<CatalogueTool, number>();

/** The estimated tokens that its definition costs in a list. */
export function tokenCostOf(tool: CatalogueTool): number {
  let cost = costs.get(tool);
  if (cost === undefined) costs.set(tool, (cost = tokensOf(JSON.stringify(tool.definition))));
  return cost;
}
