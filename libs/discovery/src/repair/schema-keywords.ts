import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';

const TYPES = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** Where the schemas of a keyword are: it is one itself, a list of them, or a map to them. */
export type SchemaPlace = 'schema' | 'list' | 'map';

export const SCHEMA_KEYWORDS: ReadonlyMap<string, SchemaPlace> = new Map<string, SchemaPlace>([
  ...keys<SchemaPlace>(
    'schema',
    'additionalProperties additionalItems contains propertyNames not if then else',
  ),
  ...keys<SchemaPlace>('schema', 'unevaluatedItems unevaluatedProperties contentSchema items'),
  ...keys<SchemaPlace>('list', 'anyOf oneOf allOf prefixItems'),
  ...keys<SchemaPlace>(
    'map',
    'properties patternProperties definitions $defs dependentSchemas dependencies',
  ),
]);

/** What validators demand of the values of the other keywords. */
const VALUES = new Map<string, (value: JsonValue) => boolean>([
  ...keys(isNumber, 'maximum minimum exclusiveMaximum exclusiveMinimum'),
  ...keys(isCount, 'maxLength minLength maxItems minItems maxProperties minProperties'),
  ...keys(isCount, 'minContains maxContains'),
  ...keys(isText, 'title description format $schema $comment contentEncoding contentMediaType'),
  ...keys(isBoolean, 'uniqueItems readOnly writeOnly deprecated'),
  ['multipleOf', (value) => isNumber(value) && Number(value) > 0],
  ['pattern', isPattern],
  ['type', isType],
  ['enum', (value) => Array.isArray(value) && value.length > 0],
  ['examples', Array.isArray],
  ['required', isTexts],
  ['dependentRequired', isMapOf(isTexts)],
]);

function keys<T>(value: T, names: string): (readonly [string, T])[] {
  return names.split(' ').map((name) => [name, value] as const);
}

/** Whether validators accept this value of a keyword that holds no schemas. */
export function isSoundValue(keyword: string, value: JsonValue, schema: JsonObject): boolean {
  if (keyword === 'nullable') return isSoundNullable(value, schema['type']);
  return VALUES.get(keyword)?.(value) ?? true;
}

export function isSchema(value: JsonValue | undefined): value is JsonObject | boolean {
  return typeof value === 'boolean' || isJsonObject(value);
}

/** Whether validators read the value as the schemas of this keyword. */
export function isSoundPlace(keyword: string, place: SchemaPlace, value: JsonValue): boolean {
  switch (place) {
    case 'schema':
      // A list of items is the tuple of the drafts before 2020-12.
      return isSchema(value) || (keyword === 'items' && isSchemas(value));
    case 'list':
      return isSchemas(value);
    case 'map':
      return isJsonObject(value);
  }
}

/** The schema at a JSON pointer, if it leads through keywords that hold schemas only. */
export function schemaAt(root: JsonObject, reference: string): JsonObject | undefined {
  const tokens = tokensOf(reference);
  let at: JsonValue | undefined = root;
  for (let i = 0; tokens && i < tokens.length;) {
    const keyword: string = tokens[i] ?? '';
    const place = SCHEMA_KEYWORDS.get(keyword);
    if (!isJsonObject(at) || !place || !Object.hasOwn(at, keyword)) return undefined;
    const value: JsonValue = at[keyword] ?? null;
    if (!isSoundPlace(keyword, place, value)) return undefined;
    const isDirect: boolean = place === 'schema' && !Array.isArray(value);
    at = isDirect ? value : memberOf(value, tokens[i + 1]);
    i += isDirect ? 1 : 2;
  }
  return tokens && isJsonObject(at) ? at : undefined;
}

function tokensOf(reference: string): string[] | undefined {
  if (reference === '#') return [];
  if (!reference.startsWith('#/')) return undefined;
  try {
    const tokens = reference.slice(2).split('/').map(decodeURIComponent);
    return tokens.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  } catch {
    return undefined;
  }
}

function memberOf(value: JsonValue, token: string | undefined): JsonValue | undefined {
  if (token === undefined) return undefined;
  if (Array.isArray(value)) return /^\d{1,9}$/.test(token) ? value[Number(token)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined;
}

export function isText(value: JsonValue): value is string {
  return typeof value === 'string';
}

export function isPattern(value: JsonValue): boolean {
  if (typeof value !== 'string') return false;
  try {
    return new RegExp(value, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}

function isSchemas(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema);
}

/** OpenAPI's keyword does not compile without a type, nor where it contradicts the type. */
function isSoundNullable(value: JsonValue, type: JsonValue | undefined): boolean {
  if (type === undefined || !isType(type)) return false;
  return value === true || (value === false && ![type].flat().includes('null'));
}

export function isTexts(value: JsonValue): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

function isNumber(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isFinite(value);
}

function isCount(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}

function isBoolean(value: JsonValue): boolean {
  return typeof value === 'boolean';
}

function isMapOf(isMember: (value: JsonValue) => boolean): (value: JsonValue) => boolean {
  return (value) => isJsonObject(value) && Object.values(value).every(isMember);
}

function isType(value: JsonValue): boolean {
  const types = Array.isArray(value) ? value : [value];
  return (
    types.length > 0 &&
    new Set(types).size === types.length &&
    types.every((type) => typeof type === 'string' && TYPES.includes(type))
  );
}
