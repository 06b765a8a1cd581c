import type { CatalogueSnapshot, CatalogueTool } from '@app/discovery';
import { type JsonObject, type JsonValue, WrittenObject } from '@app/platform';
import { wireNameOf } from '@app/routing';
import { PAGE_SIZE, pageOf } from './paging.js';

/**
 * The tools that clients see: those of every server that somebody wants connected. A server that is just
 * being reached again keeps its place, because many clients read the list once and a tool that vanishes for
 * a blink is lost to them for the session; a call to it says what is the matter. While nothing changes about
 * them it is the same array.
 */
export function listedTools(catalogue: CatalogueSnapshot): readonly CatalogueTool[] {
  let listed = lists.get(catalogue);
  if (!listed) {
    listed = withoutHidden(catalogue);
    lists.set(catalogue, listed);
  }
  return listed;
}
const lists = new WeakMap<CatalogueSnapshot, readonly CatalogueTool[]>();

function withoutHidden({ servers, tools }: CatalogueSnapshot): readonly CatalogueTool[] {
  const hidden = new Set<string>();
  for (const { id, status } of servers.values()) if (status === 'DISCONNECTED') hidden.add(id);
  const key = [...hidden].toSorted().join();
  const known = shortened.get(tools);
  if (known?.key === key) return known.listed;
  const listed = tools.filter(({ isExternal, serverId }) => isExternal && !hidden.has(serverId));
  shortened.set(tools, { key, listed });
  return listed;
}
/** Of one set of tools the last selection: another one comes only when somebody connects or disconnects a server. */
const shortened = new WeakMap<
  readonly CatalogueTool[],
  { readonly key: string; readonly listed: readonly CatalogueTool[] }
>();

/** The server's own description of a tool, under the name that clients call it by. */
export function listingOf(tool: CatalogueTool): JsonObject {
  return { ...tool.definition, name: wireNameOf(tool) };
}

/** One page of the list, written once for as long as the tools are the same; `ours` stand on the first. */
export function toolsPage(
  tools: readonly CatalogueTool[],
  cursor: JsonValue | undefined,
  ours: readonly JsonObject[],
): WrittenObject {
  const { items, start, next } = pageOf(tools, (tool) => tool.name, cursor);
  let known = pages.get(tools);
  if (!known) pages.set(tools, (known = new Map()));
  const key = cursor === undefined ? 'first' : start;
  const page = known.get(key);
  if (page) return page;
  const first = cursor === undefined ? ours : [];
  const written = WrittenObject.of({ tools: [...first, ...items.map(listingOf)], ...next });
  // Anybody can ask for pages that begin anywhere; those that lists are read by begin here.
  if (start % PAGE_SIZE === 0) known.set(key, written);
  return written;
}
const pages = new WeakMap<readonly CatalogueTool[], Map<number | 'first', WrittenObject>>();
