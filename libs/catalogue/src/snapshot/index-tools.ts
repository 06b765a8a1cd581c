import { atOnce, LayeredMap, type Sliced, sorting } from '@app/platform';
import type { AllTools, CatalogueTool, ToolIndexes } from '../catalogue-snapshot.js';

export function indexTools(all: readonly CatalogueTool[]): AllTools {
  return atOnce(indexing(all));
}

/** The same in slices. */
export function* indexing(all: readonly CatalogueTool[]): Sliced<AllTools> {
  const withheld = all.filter(isWithheld);
  const offered = withheld.length === 0 ? all : all.filter((tool) => !isWithheld(tool));
  return { ...(yield* indexesOf(offered)), withheld: yield* indexesOf(withheld) };
}

/** What `indexing` makes of the tools without the removed and with the added ones, which may have their ids. */
export function* reindexing(
  held: AllTools,
  removed: readonly CatalogueTool[],
  added: readonly CatalogueTool[],
): Sliced<AllTools> {
  const isOffered = (tool: CatalogueTool): boolean => !isWithheld(tool);
  const offered = yield* changed(held, removed.filter(isOffered), added.filter(isOffered));
  const withheld = yield* changed(
    held.withheld,
    removed.filter(isWithheld),
    added.filter(isWithheld),
  );
  return { ...offered, withheld };
}

const isWithheld = (tool: CatalogueTool): boolean => tool.withheld !== null;

function* indexesOf(unordered: readonly CatalogueTool[]): Sliced<ToolIndexes> {
  const tools = yield* sorting(unordered, byName);
  const toolsById = new Map<number, CatalogueTool>();
  const toolsByName = new Map<string, CatalogueTool>();
  const toolsByServer = new Map<string, CatalogueTool[]>();
  const toolsByOriginalName = new Map<string, CatalogueTool[]>();
  for (const tool of tools) {
    yield;
    toolsById.set(tool.id, tool);
    toolsByName.set(tool.name, tool);
    addTo(toolsByServer, tool.serverId, tool);
    if (isUnderOriginalName(tool)) addTo(toolsByOriginalName, tool.originalName, tool);
  }
  return { tools, toolsById, toolsByName, toolsByServer, toolsByOriginalName };
}

const isUnderOriginalName = ({ isExternal, offeredAs }: CatalogueTool): boolean =>
  isExternal && offeredAs?.name === undefined;

function addTo(groups: Map<string, CatalogueTool[]>, key: string, tool: CatalogueTool): void {
  const group = groups.get(key);
  if (group) group.push(tool);
  else groups.set(key, [tool]);
}

/** Costs what changed, and a copy of the list of all tools. */
function* changed(
  held: ToolIndexes,
  removed: readonly CatalogueTool[],
  added: readonly CatalogueTool[],
): Sliced<ToolIndexes> {
  const { tools, toolsById, toolsByName, toolsByServer, toolsByOriginalName } = held;
  if (removed.length + added.length === 0) {
    return { tools, toolsById, toolsByName, toolsByServer, toolsByOriginalName };
  }
  const byId = new Map<number, CatalogueTool | undefined>();
  const byName = new Map<string, CatalogueTool | undefined>();
  for (const tool of removed) {
    yield;
    byId.set(tool.id, undefined);
    if (toolsByName.get(tool.name) === tool) byName.set(tool.name, undefined);
  }
  for (const tool of added) {
    yield;
    byId.set(tool.id, tool);
    byName.set(tool.name, tool);
  }
  const ofServers = yield* regrouped(toolsByServer, removed, added, ({ serverId }) => serverId);
  const ofOriginalNames = yield* regrouped(
    toolsByOriginalName,
    removed.filter(isUnderOriginalName),
    added.filter(isUnderOriginalName),
    ({ originalName }) => originalName,
  );
  return {
    tools: yield* spliced(tools, removed, added),
    toolsById: yield* layered(toolsById).with(byId),
    toolsByName: yield* layered(toolsByName).with(byName),
    toolsByServer: yield* layered(toolsByServer).with(ofServers),
    toolsByOriginalName: yield* layered(toolsByOriginalName).with(ofOriginalNames),
  };
}

function layered<K, V extends object>(map: ReadonlyMap<K, V>): LayeredMap<K, V> {
  return map instanceof LayeredMap ? map : LayeredMap.of(map);
}

/** The groups that change; undefined for one that has no tools left. */
function* regrouped(
  groups: ReadonlyMap<string, readonly CatalogueTool[]>,
  removed: readonly CatalogueTool[],
  added: readonly CatalogueTool[],
  keyOf: (tool: CatalogueTool) => string,
): Sliced<Map<string, readonly CatalogueTool[] | undefined>> {
  const removedBy = new Map<string, CatalogueTool[]>();
  const addedBy = new Map<string, CatalogueTool[]>();
  for (const tool of removed) addTo(removedBy, keyOf(tool), tool);
  for (const tool of added) addTo(addedBy, keyOf(tool), tool);
  const changes = new Map<string, readonly CatalogueTool[] | undefined>();
  for (const key of new Set([...removedBy.keys(), ...addedBy.keys()])) {
    const group = yield* spliced(
      groups.get(key) ?? [],
      removedBy.get(key) ?? [],
      addedBy.get(key) ?? [],
    );
    changes.set(key, group.length > 0 ? group : undefined);
  }
  return changes;
}

/** A list by name without the removed and with the added tools. */
function* spliced(
  list: readonly CatalogueTool[],
  removed: readonly CatalogueTool[],
  added: readonly CatalogueTool[],
): Sliced<CatalogueTool[]> {
  const cuts: { readonly at: number; readonly tool: CatalogueTool | undefined }[] = [];
  for (const tool of yield* sorting(added, byName)) {
    yield;
    cuts.push({ at: placeOf(list, tool.name), tool });
  }
  for (const tool of removed) {
    yield;
    const at = list.indexOf(tool, placeOf(list, tool.name));
    if (at >= 0) cuts.push({ at, tool: undefined });
  }
  // Stable: what is added at the place of a removed tool stays before the cut.
  cuts.sort((a, b) => a.at - b.at);
  const result: CatalogueTool[] = [];
  let from = 0;
  const copyUntil = (end: number): void => {
    for (; from < end; from++) {
      const tool = list[from];
      if (tool) result.push(tool);
    }
  };
  for (const { at, tool } of cuts) {
    yield;
    copyUntil(at);
    if (tool) result.push(tool);
    else from = at + 1;
  }
  copyUntil(list.length);
  return result;
}

/** The index of the first tool whose name is not smaller. */
function placeOf(list: readonly CatalogueTool[], name: string): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle]?.name ?? '') < name) low = middle + 1;
    else high = middle;
  }
  return low;
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
