import type { CatalogueSnapshot, CatalogueTool } from '@app/discovery';
import type { JsonObject } from '@app/platform';
import { wireNameOf } from '@app/routing';

/**
 * The tools that clients see: those of every server that somebody wants connected. A server that is just
 * being reached again keeps its place, because many clients read the list once and a tool that vanishes for
 * a blink is lost to them for the session; a call to it says what is the matter.
 */
export function listedTools(catalogue: CatalogueSnapshot): readonly CatalogueTool[] {
  const known = lists.get(catalogue);
  if (known) return known;
  const listed = catalogue.tools.filter(
    (tool) => tool.isExternal && catalogue.servers.get(tool.serverId)?.status !== 'DISCONNECTED',
  );
  lists.set(catalogue, listed);
  return listed;
}
const lists = new WeakMap<CatalogueSnapshot, readonly CatalogueTool[]>();

/** The server's own description of a tool, under the name that clients call it by. */
export function listingOf(tool: CatalogueTool): JsonObject {
  let listing = listings.get(tool);
  if (!listing) {
    listing = { ...tool.definition, name: wireNameOf(tool) };
    listings.set(tool, listing);
  }
  return listing;
}
const listings = new WeakMap<CatalogueTool, JsonObject>();
