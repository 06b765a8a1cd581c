import { isJsonObject, type JsonObject } from '../../../mcp/json.js';
import { typeWords } from '../../../ui/schema-form/type-words.js';

/** One member of a schema, as a row of a table. */
export interface SchemaRow {
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  readonly type: string;
  readonly isRequired: boolean;
  readonly usual: string;
  readonly description: string;
  /** Values that are allowed, if they are listed. */
  readonly values: readonly string[];
}

const MAX_DEPTH = 4;
const MAX_ROWS = 300;

export function schemaRows(schema: JsonObject): SchemaRow[] {
  return rowsOf(schema, '', 0).slice(0, MAX_ROWS);
}

function rowsOf(schema: JsonObject, path: string, depth: number): SchemaRow[] {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? (schema['required'] as unknown[]) : [];
  return Object.entries(properties).flatMap(([name, given]) => {
    const member = isJsonObject(given) ? given : {};
    const row: SchemaRow = {
      path: `${path}/${name}`,
      name,
      depth,
      type: typeWords(member) || alternativesOf(member),
      isRequired: required.includes(name),
      usual: 'default' in member ? JSON.stringify(member['default']) : '',
      description: typeof member['description'] === 'string' ? member['description'] : '',
      values: Array.isArray(member['enum'])
        ? (member['enum'] as unknown[]).map((value) => JSON.stringify(value))
        : [],
    };
    if (depth >= MAX_DEPTH) return [row];
    const inner = isJsonObject(member['items']) ? member['items'] : member;
    return [row, ...rowsOf(inner, row.path, depth + 1)];
  });
}

function alternativesOf(member: JsonObject): string {
  const list = member['anyOf'] ?? member['oneOf'];
  if (!Array.isArray(list)) return '';
  const words = (list as unknown[]).map((one) => (isJsonObject(one) ? typeWords(one) : ''));
  return [...new Set(words.filter((word) => word !== ''))].join(' | ');
}
