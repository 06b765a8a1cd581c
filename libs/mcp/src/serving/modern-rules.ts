import type { IncomingHttpHeaders } from 'node:http';
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
} from '../protocol.js';
import { isJsonObject, type JsonObject, type JsonValue, WrittenObject } from '@app/platform';
import { isLogLevel, type LogLevel } from './log-level.js';
import { type ParamHeader, paramHeaders, paramHeadersOf } from '../upstream/param-headers.js';
import { rpcCode, RpcError, type RpcErrorBody, type RpcRequest, type RpcResult } from './rpc.js';

/** The rules of protocol revision 2026-07-28 that go beyond those of every request. */
export const MODERN_VERSIONS = ['2026-07-28'];

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

/** The parameter that the Mcp-Name header repeats. */
const namedBy: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

/** What a request acts on, if it names one thing. */
export function subjectOf(request: RpcRequest): string | undefined {
  const subject = request.params?.[namedBy[request.method] ?? ''];
  return typeof subject === 'string' ? subject : undefined;
}

/** Headers must repeat what the body says, so that a proxy may route by them. */
export function requireHeaders(headers: IncomingHttpHeaders, request: RpcRequest): void {
  if (headers['mcp-protocol-version'] === undefined) {
    throw mismatch('the required MCP-Protocol-Version header is absent');
  }
  if (headers['mcp-method'] === undefined) {
    throw mismatch('the required Mcp-Method header is absent');
  }
  const subject = subjectOf(request);
  if (subject === undefined) return;
  const header = headers['mcp-name'];
  if (typeof header !== 'string') throw mismatch('the required Mcp-Name header is absent');
  const decoded = decodeHeader(header.trim());
  if (decoded === undefined) throw mismatch('the Mcp-Name header is not valid Base64');
  if (decoded !== subject) throw mismatch('the Mcp-Name header names something else than the body');
}

/** Arguments that the tool's schema wants as headers too (`x-mcp-header`) must stand in both and be the same. */
export function requireParamHeaders(
  headers: IncomingHttpHeaders,
  inputSchema: JsonObject,
  args: JsonValue | undefined,
): void {
  const expected = paramHeaders(declaredIn(inputSchema), args);
  for (const [name, value] of Object.entries(expected)) {
    const header = headers[name];
    if (typeof header !== 'string') throw mismatch(`the required ${name} header is absent`);
    const given = decodeHeader(header);
    if (given === undefined) throw mismatch(`the ${name} header is not valid Base64`);
    if (!saySame(given, decodeHeader(value))) {
      throw mismatch(`the ${name} header says something else than the arguments`);
    }
  }
}

const declarations = new WeakMap<JsonObject, readonly ParamHeader[]>();

function declaredIn(inputSchema: JsonObject): readonly ParamHeader[] {
  const known = declarations.get(inputSchema);
  if (known) return known;
  const declared = paramHeadersOf(inputSchema);
  declarations.set(inputSchema, declared);
  return declared;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** 42 and 42.0 are the same number. */
function saySame(given: string, expected: string | undefined): boolean {
  if (expected === undefined || given === expected) return given === expected;
  return DECIMAL.test(given) && DECIMAL.test(expected) && Number(given) === Number(expected);
}

function mismatch(what: string): RpcError {
  return new RpcError(
    rpcCode.headerMismatch,
    `Bad Request: the request headers and body disagree: ${what}`,
  );
}

const SENTINEL = /^=\?base64\?(.*)\?=$/;
const CANONICAL_BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function decodeHeader(value: string): string | undefined {
  const encoded = SENTINEL.exec(value)?.[1];
  if (encoded === undefined) return value;
  return CANONICAL_BASE64.test(encoded) ? Buffer.from(encoded, 'base64').toString() : undefined;
}

export interface Envelope {
  readonly capabilities: JsonObject;
  readonly logLevel: LogLevel | undefined;
}

/** What a client says of itself with every request. */
export const envelopeKeys = [
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
  LOG_LEVEL_META_KEY,
];

export function envelopeOf(params: JsonObject): Envelope {
  const meta = isJsonObject(params['_meta']) ? params['_meta'] : {};
  const capabilities = meta[CLIENT_CAPABILITIES_META_KEY];
  const logLevel = meta[LOG_LEVEL_META_KEY];
  return {
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    logLevel: isLogLevel(logLevel) ? logLevel : undefined,
  };
}

/** What a server of this revision is told of the client it works for. */
export function envelopeFor({ capabilities, logLevel }: Envelope): JsonObject {
  return {
    [CLIENT_CAPABILITIES_META_KEY]: capabilities,
    ...(logLevel !== undefined && { [LOG_LEVEL_META_KEY]: logLevel }),
  };
}

/** The parameters without what belongs to the wire. */
export function withoutEnvelope(params: JsonObject): JsonObject {
  const { _meta: meta, ...rest } = params;
  if (!isJsonObject(meta)) return rest;
  const kept = Object.entries(meta).filter(([key]) => !envelopeKeys.includes(key));
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) };
}

const cacheable = new Set([
  'server/discover',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** A result as this revision writes it; what the server said for itself stands. */
export function modernResult(method: string, result: RpcResult, serverInfo: JsonObject): RpcResult {
  if (result instanceof WrittenObject) return modernWritten(method, result, serverInfo);
  const meta = isJsonObject(result['_meta']) ? result['_meta'] : {};
  const isComplete = result['resultType'] !== 'input_required';
  return {
    resultType: 'complete',
    ...(isComplete && cacheable.has(method) && { ttlMs: 0, cacheScope: 'private' }),
    ...(method === 'tools/list' ? withoutTaskSupport(result) : result),
    _meta: { [SERVER_INFO_META_KEY]: serverInfo, ...meta },
  };
}

function modernWritten(method: string, result: WrittenObject, serverInfo: JsonObject): RpcResult {
  if (method === 'tools/list') {
    let list = modernLists.get(result);
    if (!list) {
      const modern = modernResult(method, result.toObject() ?? {}, serverInfo) as JsonObject;
      modernLists.set(result, (list = WrittenObject.of(modern)));
    }
    return list;
  }
  const given = result.get('_meta');
  const isComplete = result.get('resultType') !== 'input_required';
  return result.with({
    ...(!result.has('resultType') && { resultType: 'complete' }),
    ...(isComplete && cacheable.has(method) && !result.has('ttlMs') && { ttlMs: 0 }),
    ...(isComplete &&
      cacheable.has(method) &&
      !result.has('cacheScope') && { cacheScope: 'private' }),
    _meta: { [SERVER_INFO_META_KEY]: serverInfo, ...(isJsonObject(given) && given) },
  });
}

/** A view that gives the same list again is spared writing it again. */
const modernLists = new WeakMap<WrittenObject, WrittenObject>();

/** `execution` is a word of the revision before. */
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

/** This revision has no code of its own for a resource that is not there. */
export function modernError(error: RpcErrorBody): RpcErrorBody {
  return error.code === rpcCode.resourceNotFound
    ? { ...error, code: rpcCode.invalidParams }
    : error;
}
