import { isJsonObject, type JsonObject } from './json.js';

const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/;
const MAX_DEPTH = 64;

/** A header can carry visible ASCII; other text is written as Base64 in a wrapper (MCP 2026-07-28, Streamable HTTP). */
export function headerText(value: string): string {
  if (PLAIN.test(value) && !(value.startsWith('=?base64?') && value.endsWith('?='))) return value;
  const bytes = new TextEncoder().encode(value);
  return `=?base64?${btoa(String.fromCharCode(...bytes))}?=`;
}

/** Headers that repeat arguments, where the schema of the tool asks for it (`x-mcp-header`). */
export function argumentHeaders(
  schema: unknown,
  value: unknown,
  depth = 0,
): Readonly<Record<string, string>> {
  if (!isJsonObject(schema) || depth > MAX_DEPTH) return {};
  const name = schema['x-mcp-header'];
  const text = primitiveText(value);
  const own: Record<string, string> =
    typeof name === 'string' && /^[\w-]+$/.test(name) && depth > 0 && text !== undefined
      ? { [`Mcp-Param-${name}`]: headerText(text) }
      : {};
  const properties: JsonObject = isJsonObject(schema['properties']) ? schema['properties'] : {};
  for (const [key, child] of Object.entries(properties)) {
    if (!isJsonObject(value) || !Object.hasOwn(value, key)) continue;
    Object.assign(own, argumentHeaders(child, value[key], depth + 1));
  }
  return own;
}

function primitiveText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}
