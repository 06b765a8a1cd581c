import type { CatalogueTool } from '@app/catalogue';
import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { MAX_TEXT_CHARS, splitIdentifiers } from '@app/vectors';
import { propertiesOf, requiredOf } from './tool-schema.js';

/** Names of parameters that take a query; compared without case and separators. */
const QUERY_NAMES = new Set(
  `query q question search searchquery searchterm searchterms searchtext searchstring querytext
   querystring userquery term terms keyword keywords topic prompt`.split(/\s+/),
);
/** Last words of names of text parameters that take no query. */
const OTHER_NAMES = new Set(
  `path file filename dir directory folder uri url id ids uuid key token cursor code date time name
   language lang locale format branch ref sha repo repository owner user username email`.split(
    /\s+/,
  ),
);
/** In the name or description of a tool that looks things up. */
const LOOKS_UP = /\b(?:search|find|query|queries|ask|answer|look ?up|retriev|recall)/i;

/** The parameter named like a query, or the only required text of a tool that looks things up. */
export function queryParameter(tool: CatalogueTool): string | undefined {
  const texts = textParameters(tool);
  const required = requiredOf(tool);
  const evident = texts
    .filter(isQueryName)
    .toSorted((a, b) => Number(required.includes(b)) - Number(required.includes(a)));
  if (evident[0] !== undefined || !looksUp(tool)) return evident[0];
  const only = onlyRequiredText(tool);
  const kind = only && splitIdentifiers(only).toLowerCase().split(' ').at(-1);
  return kind && OTHER_NAMES.has(kind) ? undefined : only;
}

export function onlyRequiredText(tool: CatalogueTool): string | undefined {
  const required = requiredOf(tool);
  const texts = textParameters(tool).filter((name) => required.includes(name));
  return texts.length === 1 ? texts[0] : undefined;
}

export function isQueryName(name: string): boolean {
  return QUERY_NAMES.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''));
}

export function looksUp(tool: CatalogueTool): boolean {
  const description = tool.description.slice(0, MAX_TEXT_CHARS);
  return LOOKS_UP.test(`${splitIdentifiers(tool.originalName)}. ${description}`);
}

function textParameters(tool: CatalogueTool): string[] {
  return Object.entries(propertiesOf(tool))
    .filter(([, schema]) => isJsonObject(schema) && isFreeText(schema))
    .map(([name]) => name);
}

/** A string without an enumeration, a format or a pattern. */
function isFreeText(schema: JsonObject): boolean {
  if ('enum' in schema || 'const' in schema || 'format' in schema || 'pattern' in schema) {
    return false;
  }
  const { type, anyOf } = schema;
  if (Array.isArray(type)) return type.includes('string');
  return (
    type === 'string' ||
    (Array.isArray(anyOf) && anyOf.some((choice) => isJsonObject(choice) && isFreeText(choice)))
  );
}

/** The query, the configured arguments, and the only possible values that the schema gives. */
export function argumentsFor(
  tool: CatalogueTool,
  parameter: string,
  fixed: JsonObject,
  query: string,
): { arguments: JsonObject } | { missing: string[] } {
  const properties = propertiesOf(tool);
  const given: JsonObject = { ...fixed, [parameter]: fitting(query, properties[parameter]) };
  const missing: string[] = [];
  for (const name of requiredOf(tool)) {
    if (name in given) continue;
    const value = onlyValue(properties[name]);
    if (value === undefined) missing.push(name);
    else given[name] = value;
  }
  if (missing.length > 0) return { missing };
  return { arguments: given };
}

function onlyValue(schema: JsonValue | undefined): JsonValue | undefined {
  if (!isJsonObject(schema)) return undefined;
  const choices = schema['enum'];
  return (
    schema['default'] ??
    schema['const'] ??
    (Array.isArray(choices) && choices.length === 1 ? choices[0] : undefined)
  );
}

function fitting(query: string, schema: JsonValue | undefined): string {
  const longest = isJsonObject(schema) ? schema['maxLength'] : undefined;
  return typeof longest === 'number' ? query.slice(0, longest).toWellFormed() : query;
}

export function missingReason(missing: readonly string[]): string {
  return `needs other arguments too: ${missing.join(', ')}`;
}
