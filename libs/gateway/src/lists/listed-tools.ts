import type { CatalogueSnapshot, CatalogueTool } from '@app/catalogue';
import { type JsonObject, type JsonValue, RawJsonObject } from '@app/platform';
import { isWithdrawn } from '@app/registry';
import { wireNameOf } from '@app/routing';
import { firstAfter, keyIn, type PageItem, writePage } from './paging.js';

/**
 * The tools that clients see: those of every server that is not disconnected by request. The tools of a reconnecting server
 * stay listed, because many clients read the list once and would lose them for the rest of the session; a call to
 * one returns the reason. Returns the same array while the tools are unchanged.
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
  for (const { id, status } of servers.values()) if (isWithdrawn(status)) hidden.add(id);
  const key = [...hidden].toSorted().join();
  const known = shortened.get(tools);
  if (known?.key === key) return known.listed;
  const listed = tools.filter(({ isExternal, serverId }) => isExternal && !hidden.has(serverId));
  shortened.set(tools, { key, listed });
  return listed;
}
/** Last selection per set of tools; it changes only when a server is connected or disconnected. */
const shortened = new WeakMap<
  readonly CatalogueTool[],
  { readonly key: string; readonly listed: readonly CatalogueTool[] }
>();

/** The definition of the server, under the wire name of the tool. */
export function listingOf(tool: CatalogueTool): JsonObject {
  return { ...tool.definition, name: wireNameOf(tool) };
}

/** Whether clients see the same list; changed skills, for instance, are not visible to them. */
export function isSameList(a: readonly CatalogueTool[], b: readonly CatalogueTool[]): boolean {
  if (a === b) return true;
  return a.length === b.length && a.every((tool, i) => isSameTool(tool, b[i]));
}

function isSameTool(a: CatalogueTool, b: CatalogueTool | undefined): boolean {
  return a === b || (a.name === b?.name && a.contentHash === b.contentHash);
}

/** One page of the list, serialised once while the tools are unchanged; `ours` come first on the first page. */
export function toolsPage(
  tools: readonly CatalogueTool[],
  cursor: JsonValue | undefined,
  ours: readonly JsonObject[],
): RawJsonObject {
  const start = firstAfter(tools, (tool) => tool.name, keyIn(cursor));
  let known = pages.get(tools);
  if (!known) pages.set(tools, (known = new Map([['first', undefined]])));
  const key = cursor === undefined ? 'first' : start;
  const kept = known.get(key);
  if (kept) return kept;
  const head = cursor === undefined ? ours.map((tool) => JSON.stringify(tool)) : [];
  const { page, count } = writePage('tools', listingsFrom(tools, start), head);
  // A client can invent cursors: cache a page only if it begins where another one ended.
  if (known.has(key)) known.set(key, page).set(start + count, known.get(start + count));
  return page;
}
/** Undefined for a page that is not serialised yet. */
const pages = new WeakMap<
  readonly CatalogueTool[],
  Map<number | 'first', RawJsonObject | undefined>
>();

function* listingsFrom(tools: readonly CatalogueTool[], start: number): Generator<PageItem> {
  for (let i = start; i < tools.length; i++) {
    const tool = tools[i];
    if (tool) yield { key: tool.name, json: JSON.stringify(listingOf(tool)) };
  }
}
