import {
  rpcCode,
  type RpcErrorBody,
  type RpcResult,
  SERVER_INFO_META_KEY,
} from '@app/mcp-protocol';
import { changed, isJsonObject, type JsonObject, RawJsonObject } from '@app/platform';

/** The methods of protocol revision 2026-07-28. */
const methods = new Set([
  'server/discover',
  'subscriptions/listen',
  'tools/list',
  'tools/call',
  'prompts/list',
  'prompts/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'completion/complete',
]);

export function isModernMethod(method: string): boolean {
  return methods.has(method);
}

const cacheable = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** A result in the format of this revision; fields set by the server have priority. */
export function modernResult(method: string, result: RpcResult, serverInfo: JsonObject): RpcResult {
  return result instanceof RawJsonObject
    ? modernWritten(method, result, serverInfo)
    : modernObject(method, result, serverInfo);
}

function modernObject(method: string, result: JsonObject, serverInfo: JsonObject): JsonObject {
  const meta = isJsonObject(result['_meta']) ? result['_meta'] : {};
  const isComplete = result['resultType'] !== 'input_required';
  return {
    resultType: 'complete',
    ...(isComplete && cacheable.has(method) && { ttlMs: 0, cacheScope: 'private' }),
    ...(method === 'tools/list' ? withoutTaskSupport(result) : result),
    _meta: { [SERVER_INFO_META_KEY]: serverInfo, ...meta },
  };
}

function modernWritten(method: string, result: RawJsonObject, serverInfo: JsonObject): RpcResult {
  if (!method.endsWith('/list')) return modernSpliced(method, result, serverInfo);
  let list = modernLists.get(result);
  if (!list) modernLists.set(result, (list = modernList(method, result, serverInfo)));
  return list;
}

function modernList(method: string, result: RawJsonObject, serverInfo: JsonObject): RawJsonObject {
  const hasExecution = method === 'tools/list' && result.bytes.includes('"execution"');
  if (!hasExecution) return modernSpliced(method, result, serverInfo);
  return RawJsonObject.of(modernObject(method, result.toObject(), serverInfo));
}

function modernSpliced(
  method: string,
  result: RawJsonObject,
  serverInfo: JsonObject,
): RawJsonObject {
  const given = result.get('_meta');
  const isComplete = result.get('resultType') !== 'input_required';
  return result.with({
    ...(!result.has('resultType') && { resultType: 'complete' }),
    ...(isComplete && cacheable.has(method) && !result.has('ttlMs') && { ttlMs: 0 }),
    ...(isComplete &&
      cacheable.has(method) &&
      !result.has('cacheScope') && { cacheScope: 'private' }),
    _meta: isJsonObject(given)
      ? changed(given, { [SERVER_INFO_META_KEY]: given[SERVER_INFO_META_KEY] ?? serverInfo })
      : { [SERVER_INFO_META_KEY]: serverInfo },
  });
}

/** Cached per result, as a view often returns the same list. */
const modernLists = new WeakMap<RawJsonObject, RawJsonObject>();

/** `execution` exists only up to 2025-11-25; strip it for modern clients. */
function withoutTaskSupport(result: JsonObject): JsonObject {
  const tools = result['tools'];
  if (!Array.isArray(tools)) return result;
  return {
    ...result,
    tools: tools.map((tool) => {
      if (!isJsonObject(tool) || !('execution' in tool)) return tool;
      const { execution: _execution, ...rest } = tool;
      return rest;
    }),
  };
}

/** This revision has no error code of its own for an unknown resource. */
export function modernError(error: RpcErrorBody): RpcErrorBody {
  return error.code === rpcCode.resourceNotFound
    ? { ...error, code: rpcCode.invalidParams }
    : error;
}
