import { mcpHeader } from './header-names.js';
import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';

/** `Mcp-Param-*` of the 2026-07-28 Streamable HTTP: arguments that a tool's schema declares as headers too. */
export interface ParamHeader {
  readonly path: readonly string[];
  readonly name: string;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
/** Deeper than real schemas, shallower than what overflows the stack. */
const MAX_DEPTH = 64;

export function paramHeadersOf(inputSchema: JsonValue | undefined): ParamHeader[] {
  return declarations(inputSchema, []);
}

const declaredIn = new WeakMap<JsonObject, readonly ParamHeader[]>();

/** The same, remembered with the schema: for one that is used for many calls. */
export function declaredHeaders(inputSchema: JsonObject): readonly ParamHeader[] {
  const known = declaredIn.get(inputSchema);
  if (known) return known;
  const declared = paramHeadersOf(inputSchema);
  declaredIn.set(inputSchema, declared);
  return declared;
}

export function paramHeaders(
  declared: readonly ParamHeader[],
  args: JsonValue | undefined,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const { path, name } of declared) {
    const value = path.reduce<JsonValue | undefined>(
      (node, key) => (isJsonObject(node) && Object.hasOwn(node, key) ? node[key] : undefined),
      args,
    );
    const text = primitiveText(value);
    if (text !== undefined) headers[mcpHeader.paramPrefix + name.toLowerCase()] = headerText(text);
  }
  return headers;
}

/** A header can carry visible ASCII; any other text is encoded as base64 in a wrapper. */
export function headerText(value: string): string {
  const safe = PLAIN.test(value) && !(value.startsWith('=?base64?') && value.endsWith('?='));
  return safe ? value : `=?base64?${Buffer.from(value, 'utf8').toString('base64')}?=`;
}

function declarations(schema: JsonValue | undefined, path: readonly string[]): ParamHeader[] {
  if (!isJsonObject(schema) || path.length > MAX_DEPTH) return [];
  const name = schema['x-mcp-header'];
  const own = typeof name === 'string' && TOKEN.test(name) && path.length > 0;
  const properties: JsonObject = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return [
    ...(own ? [{ path, name }] : []),
    ...Object.entries(properties).flatMap(([key, child]) => declarations(child, [...path, key])),
  ];
}

function primitiveText(value: JsonValue | undefined): string | undefined {
  switch (typeof value) {
    case 'string':
      return value;
    case 'boolean':
      return String(value);
    case 'number':
      return Number.isInteger(value) && !Number.isSafeInteger(value) ? undefined : String(value);
    default:
      return undefined;
  }
}
