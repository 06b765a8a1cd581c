import { idJson, type RpcId, type RpcRequest } from '@app/mcp-protocol';
import { changed, isJsonObject, type JsonObject, type TraceCarrier } from '@app/platform';
import type { RequestOptions } from '../upstream.js';

type MetaOptions = Pick<RequestOptions, 'meta' | 'onProgress' | 'span'>;

interface Asked {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** The request as it is sent. `modern` adds the `_meta` that every request of that era carries. */
export function requestMessage(
  { id, method, params }: Asked,
  options: MetaOptions,
  modern: { envelope(): JsonObject } | undefined,
): RpcRequest {
  const given = params?.['_meta'];
  const carried = options.span?.carried;
  if (!modern && given === undefined && !options.meta && !options.onProgress) {
    const sent = carried ? changed(params ?? {}, { _meta: { ...carried } }) : params;
    return { jsonrpc: '2.0', id, method, params: sent };
  }
  const envelope = modern?.envelope() ?? {};
  const meta = metaFor(isJsonObject(given) ? given : {}, id, { ...options, carried }, envelope);
  return { jsonrpc: '2.0', id, method, params: changed(params ?? {}, { _meta: meta }) };
}

/** The client's `_meta`; the envelope adds missing keys, the options of this request override. */
function metaFor(
  given: JsonObject,
  id: RpcId,
  options: MetaOptions & { readonly carried: TraceCarrier | undefined },
  envelope: JsonObject,
): JsonObject {
  const missing = Object.entries(envelope).filter(([key]) => !Object.hasOwn(given, key));
  return changed(given, {
    ...Object.fromEntries(missing),
    // Drop the client's token: it could be the id of another call of this session.
    progressToken: undefined,
    ...options.meta,
    ...(options.onProgress && { progressToken: idJson(id) }),
    // A state without its parent would be wrong.
    ...(options.carried && { tracestate: undefined, ...options.carried }),
  });
}
