import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import {
  isPattern,
  isSchema,
  isSoundPlace,
  isSoundValue,
  isTexts,
  SCHEMA_KEYWORDS,
  schemaAt,
  type SchemaPlace,
} from './schema-keywords.js';

export interface SoundSchema {
  /** The same object when nothing was changed. */
  readonly schema: JsonObject;
  /** JSON pointers to what was changed. */
  readonly changes: readonly string[];
}

/**
 * `input` is sent to model providers, which refuse the whole list for one invalid schema; `output` is compiled by
 * clients when they list tools, and one schema that does not compile makes them drop the whole list.
 */
export type SchemaUse = 'input' | 'output';

/** Keywords that identify schemas: a second one with the same identifier does not compile. */
const IDENTIFIERS = ['$id', 'id', '$anchor', '$dynamicAnchor', '$recursiveAnchor', '$async'];
/** Keywords with data, in which nothing is a schema. */
const DATA = ['const', 'enum', 'default', 'examples'];

/**
 * The schema without what validators refuse: a keyword with a value that it cannot have is left out, which only
 * admits more values. The server still checks what it is sent. The schema must not be nested too deeply.
 */
export function soundSchema(schema: JsonObject, use: SchemaUse): SoundSchema {
  const changes: string[] = [];
  return { schema: new Mending(schema, use, changes).mend(schema, ''), changes };
}

class Mending {
  constructor(
    private readonly root: JsonObject,
    private readonly use: SchemaUse,
    private readonly changes: string[],
  ) {}

  mend(schema: JsonObject, path: string): JsonObject {
    let mended: JsonObject | undefined;
    for (const [keyword, value] of Object.entries(schema)) {
      const at = `${path}/${keyword}`;
      const sound = this.keyword(keyword, value, schema, at);
      if (sound === value) continue;
      mended ??= { ...schema };
      if (sound === undefined) delete mended[keyword];
      else mended[keyword] = sound;
    }
    return this.use === 'input' ? this.complete(mended ?? schema, path) : (mended ?? schema);
  }

  private keyword(
    keyword: string,
    value: JsonValue,
    schema: JsonObject,
    path: string,
  ): JsonValue | undefined {
    const place = SCHEMA_KEYWORDS.get(keyword);
    if (place) return this.schemas(keyword, place, value, path);
    const isSound = this.isSoundReference(keyword, value) && isSoundValue(keyword, value, schema);
    if (isSound && !(this.use === 'output' && this.isIdentifier(keyword, value))) return value;
    this.changes.push(path);
    return undefined;
  }

  private schemas(
    keyword: string,
    place: SchemaPlace,
    listed: JsonValue,
    path: string,
  ): JsonValue | undefined {
    // An empty map is an empty list in PHP.
    const value = place === 'map' && Array.isArray(listed) && listed.length === 0 ? {} : listed;
    if (value !== listed) this.changes.push(path);
    if (!isSoundPlace(keyword, place, value)) {
      this.changes.push(path);
      return undefined;
    }
    if (Array.isArray(value)) {
      const mended = value.map((item, i) => this.one(item, `${path}/${i}`));
      return mended.some((item, i) => item !== value[i]) ? mended : value;
    }
    return place === 'map' && isJsonObject(value)
      ? this.map(keyword, value, path)
      : this.one(value, path);
  }

  private map(keyword: string, value: JsonObject, path: string): JsonObject {
    const members = Object.entries(value);
    const mended = members.flatMap(([name, member]): [string, JsonValue][] => {
      if (keyword !== 'patternProperties' || isPattern(name)) {
        const isList = keyword === 'dependencies' && isTexts(member);
        return [[name, isList ? member : this.one(member, `${path}/${name}`)]];
      }
      this.changes.push(`${path}/${name}`);
      return [];
    });
    const isSame =
      mended.length === members.length && mended.every(([name, m]) => m === value[name]);
    return isSame ? value : Object.fromEntries(mended);
  }

  private one(value: JsonValue, path: string): JsonValue {
    if (isJsonObject(value)) return this.mend(value, path);
    if (isSchema(value)) return value;
    this.changes.push(path);
    return {};
  }

  private isSoundReference(keyword: string, value: JsonValue): boolean {
    if (keyword !== '$ref') return true;
    if (typeof value !== 'string') return false;
    // Only validators of outputs have to find what is not in the document.
    const isRemote = this.use === 'input' && !value.startsWith('#/');
    return isRemote || schemaAt(this.root, value) !== undefined;
  }

  private isIdentifier(keyword: string, value: JsonValue): boolean {
    return IDENTIFIERS.includes(keyword) || (!DATA.includes(keyword) && namesSchemas(value));
  }

  /** What providers of models ask for beyond JSON Schema, in words that mean the same. */
  private complete(schema: JsonObject, path: string): JsonObject {
    const { type, required, properties, items, prefixItems, additionalItems = {} } = schema;
    const mended: JsonObject = {};
    if (Array.isArray(items)) Object.assign(mended, { prefixItems: items, items: additionalItems });
    const isArray = type === 'array' || (Array.isArray(type) && type.includes('array'));
    if (isArray && items === undefined && prefixItems === undefined) mended['items'] = {};
    if (Array.isArray(required) && isJsonObject(properties)) {
      const missing = required.filter(
        (name): name is string => typeof name === 'string' && !Object.hasOwn(properties, name),
      );
      if (missing.length > 0) {
        mended['properties'] = {
          ...properties,
          ...Object.fromEntries(missing.map((n) => [n, {}])),
        };
      }
    }
    const keywords = Object.keys(mended);
    if (keywords.length === 0) return schema;
    this.changes.push(...keywords.map((keyword) => `${path}/${keyword}`));
    return { ...schema, ...mended };
  }
}

/** Whether an unknown keyword has identifiers inside, which validators collect everywhere. */
function namesSchemas(value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(
    ([key, item]) => ['$id', '$anchor', '$dynamicAnchor'].includes(key) || namesSchemas(item),
  );
}
