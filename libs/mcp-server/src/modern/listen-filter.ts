import { isJsonObject, type JsonObject } from '@app/platform';
import type { ServerChange } from '../surface.js';

/** The content of a `subscriptions/listen`, limited to what the view supports. */
export interface Filter {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

export function urisOf(wanted: JsonObject, capabilities: JsonObject): ReadonlySet<string> {
  const given = wanted['resourceSubscriptions'];
  const uris = Array.isArray(given) && offers(capabilities, 'resources', 'subscribe') ? given : [];
  return new Set(uris.filter((uri) => typeof uri === 'string'));
}

export function honoured(
  wanted: JsonObject,
  capabilities: JsonObject,
  subscribed: readonly string[],
): Filter {
  const both = (asked: string, family: string): boolean =>
    wanted[asked] === true && offers(capabilities, family, 'listChanged');
  return {
    ...(both('toolsListChanged', 'tools') && { toolsListChanged: true }),
    ...(both('promptsListChanged', 'prompts') && { promptsListChanged: true }),
    ...(both('resourcesListChanged', 'resources') && { resourcesListChanged: true }),
    ...(subscribed.length > 0 && { resourceSubscriptions: subscribed }),
  };
}

function offers(capabilities: JsonObject, family: string, feature: string): boolean {
  const capability = capabilities[family];
  return isJsonObject(capability) && capability[feature] === true;
}

export function written({ resourceSubscriptions, ...flags }: Filter): JsonObject {
  return {
    ...flags,
    ...(resourceSubscriptions && { resourceSubscriptions: [...resourceSubscriptions] }),
  };
}

/** Whether the filter includes a changed list; resources are subscribed to one by one. */
export function accepts(filter: Filter, change: ServerChange): boolean {
  switch (change.kind) {
    case 'tools':
      return filter.toolsListChanged === true;
    case 'prompts':
      return filter.promptsListChanged === true;
    case 'resources':
      return filter.resourcesListChanged === true;
    case 'log':
      return false;
    default:
      return change satisfies never;
  }
}
