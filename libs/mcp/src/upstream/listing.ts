import { isJsonObject, type JsonObject } from '@app/platform';
import type { ListKind, ListLimits, UpstreamSession } from './upstream.js';
import { UpstreamProtocolError } from './upstream.errors.js';

const methods = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
  resourceTemplates: 'resources/templates/list',
} as const satisfies Record<ListKind, string>;

/** Every page of a list, within the limits: a server may have pages without end. */
export async function listAll(
  session: Pick<UpstreamSession, 'request'>,
  kind: ListKind,
  limits: ListLimits,
): Promise<JsonObject[]> {
  const endsAt = performance.now() + limits.timeoutMs;
  const items: JsonObject[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < limits.maxPages; page++) {
    const result = await session.request(methods[kind], cursor === undefined ? {} : { cursor }, {
      timeoutMs: Math.max(1, endsAt - performance.now()),
    });
    const listed = result[kind];
    if (!Array.isArray(listed)) throw new UpstreamProtocolError(`${methods[kind]} has no ${kind}`);
    items.push(...listed.filter(isJsonObject).slice(0, limits.maxItems - items.length));
    const next = result['nextCursor'];
    if (typeof next !== 'string' || next === '' || items.length >= limits.maxItems) return items;
    if (seen.has(next)) throw new UpstreamProtocolError(`${methods[kind]} runs in a circle`);
    seen.add(next);
    cursor = next;
  }
  throw new UpstreamProtocolError(`${methods[kind]} has more than ${limits.maxPages} pages`);
}
