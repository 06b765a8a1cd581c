import type { IncomingHttpHeaders } from 'node:http';
import {
  declaredHeaders,
  mcpHeader,
  paramHeaders,
  rpcCode,
  RpcError,
  type RpcRequest,
  subjectOf,
} from '@app/mcp-protocol';
import type { JsonObject, JsonValue } from '@app/platform';

/** Headers have to repeat parts of the body, so that a proxy can route by them. */
export function requireHeaders(headers: IncomingHttpHeaders, request: RpcRequest): void {
  if (headers[mcpHeader.protocolVersion] === undefined) {
    throw mismatch('the required MCP-Protocol-Version header is absent');
  }
  if (headers[mcpHeader.method] === undefined) {
    throw mismatch('the required Mcp-Method header is absent');
  }
  const subject = subjectOf(request);
  if (subject === undefined) return;
  const header = headers[mcpHeader.name];
  if (typeof header !== 'string') throw mismatch('the required Mcp-Name header is absent');
  const decoded = decodeHeader(header.trim());
  if (decoded === undefined) throw mismatch('the Mcp-Name header is not valid Base64');
  if (decoded !== subject) throw mismatch('the Mcp-Name header names something else than the body');
}

/** Arguments that the tool's schema declares as headers (`x-mcp-header`) have to be in both places and equal. */
export function requireParamHeaders(
  headers: IncomingHttpHeaders,
  inputSchema: JsonObject,
  args: JsonValue | undefined,
): void {
  const expected = paramHeaders(declaredHeaders(inputSchema), args);
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
