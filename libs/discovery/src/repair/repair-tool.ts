import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { type Repaired, toolMembers, withSoundMembers } from './members.js';
import { soundSchema } from './sound-schema.js';

const NAMED_CHANGES = 10;
const MAX_POINTER_CHARS = 100;

/**
 * A tool as the strictest clients accept it (contract R45): clients of both SDK generations refuse the whole list for one
 * invalid definition, and model providers the whole request. Returns the same object when nothing was changed.
 */
export function repairTool(listed: JsonObject): Repaired {
  const repairs: string[] = [];
  const input = inputSchemaOf(listed['inputSchema'] ?? null, repairs);
  if (typeof input === 'string') return { refusal: input };
  const tool = withSoundMembers(listed, toolMembers, '', repairs);
  const isSame = input === listed['inputSchema'];
  return {
    item: withOutputSchema(isSame ? tool : { ...tool, inputSchema: input }, repairs),
    repairs,
  };
}

/** The schema, or the reason why it has none that can be made certain. */
function inputSchemaOf(listed: JsonValue, repairs: string[]): JsonObject | string {
  if (listed === null) {
    repairs.push('it has no input schema, and {"type": "object"} was added');
    return { type: 'object' };
  }
  if (!isJsonObject(listed)) return 'its input schema is no object';
  const { type, properties } = listed;
  const isObject = type === undefined || type === 'object' || hasType(type, 'object');
  if (!isObject) return 'the type of its input schema is not "object"';
  if (!isMissing(properties) && !isJsonObject(properties) && !isEmptyList(properties)) {
    return 'the properties of its input schema are no object';
  }
  if (type !== 'object') {
    repairs.push('its input schema has no "type": "object", which was added');
  }
  const typed: JsonObject = type === 'object' ? listed : { ...listed, type: 'object' };
  return soundInput(typed, repairs);
}

function soundInput(typed: JsonObject, repairs: string[]): JsonObject {
  const { schema, changes } = soundSchema(typed, 'input');
  if (changes.length > 0) repairs.push(changesIn('input', changes));
  return withSchemaProperties(schema, repairs, 'input');
}

/** A hint for clients, which they compile when they list tools: what they cannot compile is left out. */
function withOutputSchema(tool: JsonObject, repairs: string[]): JsonObject {
  const { outputSchema, ...others } = tool;
  if (outputSchema === undefined) return tool;
  const isObject =
    isJsonObject(outputSchema) &&
    (outputSchema['type'] === 'object' ||
      (outputSchema['type'] === undefined && isJsonObject(outputSchema['properties'])));
  if (!isObject) {
    repairs.push('its output schema was left out, because it is not that of an object');
    return others;
  }
  const isTyped = outputSchema['type'] === 'object';
  const typed: JsonObject = isTyped ? outputSchema : { ...outputSchema, type: 'object' };
  if (!isTyped) repairs.push('its output schema has no "type": "object", which was added');
  const { schema, changes } = soundSchema(typed, 'output');
  if (changes.length > 0) repairs.push(changesIn('output', changes));
  const sound = withSchemaProperties(schema, repairs, 'output');
  return sound === outputSchema ? tool : { ...tool, outputSchema: sound };
}

/** A property may be `true` in JSON Schema, but not for clients of the SDK's first version. */
function withSchemaProperties(schema: JsonObject, repairs: string[], use: string): JsonObject {
  const { properties } = schema;
  if (!isJsonObject(properties)) return schema;
  const entries = Object.entries(properties);
  if (!entries.some(([, property]) => typeof property === 'boolean')) return schema;
  repairs.push(`properties of its ${use} schema that are true or false were written as objects`);
  const written = entries.map(([name, property]): [string, JsonValue] => [
    name,
    typeof property === 'boolean' ? (property ? {} : { not: {} }) : property,
  ]);
  return { ...schema, properties: Object.fromEntries(written) };
}

function changesIn(use: string, changes: readonly string[]): string {
  const named = changes.slice(0, NAMED_CHANGES).map((path) => path.slice(0, MAX_POINTER_CHARS));
  const more = changes.length > NAMED_CHANGES ? ` and ${changes.length - NAMED_CHANGES} more` : '';
  return `in its ${use} schema these were corrected or left out, because clients refuse them: ${named.join(', ')}${more}`;
}

function hasType(type: JsonValue, wanted: string): boolean {
  return Array.isArray(type) && type.includes(wanted);
}

function isMissing(value: JsonValue | undefined): boolean {
  return value === undefined || value === null;
}

function isEmptyList(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.length === 0;
}
