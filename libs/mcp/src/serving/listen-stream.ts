import { SUBSCRIPTION_ID_META_KEY } from '../protocol.js';
import { isJsonObject, type JsonObject } from '@app/platform';
import type { HttpExchange } from './http-exchange.js';
import { modernResult } from './modern-rules.js';
import { rpcCode, RpcError, type RpcRequest } from './rpc.js';
import { type McpView, notificationOf, type ServerChange } from './view.js';

interface Filter {
  readonly toolsListChanged?: true;
  readonly promptsListChanged?: true;
  readonly resourcesListChanged?: true;
  readonly resourceSubscriptions?: readonly string[];
}

/** `subscriptions/listen`: a stream of the changes that a stateless client asked for. Returns how to end it. */
export async function listen(
  request: RpcRequest,
  view: McpView,
  exchange: HttpExchange,
): Promise<() => void> {
  const { capabilities } = view.describe();
  const wanted = request.params?.['notifications'];
  if (!isJsonObject(wanted)) {
    throw new RpcError(rpcCode.invalidParams, 'notifications must be an object');
  }
  const subscribed = await subscribeAll(view, uris(wanted, capabilities));
  const filter = honoured(wanted, capabilities, [...subscribed.keys()]);
  const meta = { [SUBSCRIPTION_ID_META_KEY]: request.id };
  const send = (method: string, params: JsonObject): void =>
    exchange.send({ jsonrpc: '2.0', method, params: { ...params, _meta: meta } });

  send('notifications/subscriptions/acknowledged', { notifications: written(filter) });
  const stopWatching = view.watch((change) => {
    if (!accepts(filter, change)) return;
    const { method, params } = notificationOf(change);
    send(method, params);
  });
  const release = (): void => {
    stopWatching();
    for (const unsubscribe of subscribed.values()) unsubscribe();
  };
  exchange.onClientGone(release);
  return () => {
    release();
    exchange.finish({
      jsonrpc: '2.0',
      id: request.id,
      result: modernResult(request.method, { _meta: meta }, view.serverInfo),
    });
  };
}

function uris(wanted: JsonObject, capabilities: JsonObject): string[] {
  const given = wanted['resourceSubscriptions'];
  return Array.isArray(given) && offers(capabilities, 'resources', 'subscribe')
    ? given.filter((uri) => typeof uri === 'string')
    : [];
}

/** A resource that cannot be subscribed to is left out of what is acknowledged; the others still are. */
async function subscribeAll(
  view: McpView,
  wanted: readonly string[],
): Promise<Map<string, () => void>> {
  const outcomes = await Promise.allSettled(wanted.map((uri) => view.subscribe(uri)));
  const subscribed = new Map<string, () => void>();
  outcomes.forEach((outcome, i) => {
    const uri = wanted[i];
    if (outcome.status === 'fulfilled' && uri !== undefined) subscribed.set(uri, outcome.value);
  });
  return subscribed;
}

function honoured(
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

function written({ resourceSubscriptions, ...flags }: Filter): JsonObject {
  return {
    ...flags,
    ...(resourceSubscriptions && { resourceSubscriptions: [...resourceSubscriptions] }),
  };
}

function accepts(filter: Filter, change: ServerChange): boolean {
  switch (change.kind) {
    case 'tools':
      return filter.toolsListChanged === true;
    case 'prompts':
      return filter.promptsListChanged === true;
    case 'resources':
      return filter.resourcesListChanged === true;
    case 'resource':
      return filter.resourceSubscriptions?.includes(change.uri) ?? false;
    case 'log':
      return false;
    default:
      return change satisfies never;
  }
}
