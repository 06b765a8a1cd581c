import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';

/** Keywords without effect on what is valid. Names that begin with `x-` have none either. */
const ANNOTATIONS =
  'title description default examples deprecated readOnly writeOnly $schema $comment $defs definitions';
const onlyWith = (keywords: string): ReadonlySet<string> =>
  new Set(`${ANNOTATIONS} ${keywords}`.trim().split(' '));
const IN_TEXT = onlyWith('type maxLength');
const IN_LIST = onlyWith('type items maxItems uniqueItems');
const IN_OBJECT = onlyWith('type properties required additionalProperties maxProperties');
const IN_REFERENCE = onlyWith('$ref');
const IN_CHOICE = onlyWith('anyOf oneOf');
const MAX_REFERENCES = 16;

/**
 * What may be left out of a value that is valid against a schema, so that it stays valid. Only keywords that are
 * understood give freedom: beside any other one nothing is changed. Schemas of servers are walked, never compiled.
 */
export class SchemaFreedom {
  private constructor(
    private readonly root: JsonValue | undefined,
    /** True is the schema that accepts all values; undefined is one that is not understood. */
    private readonly schema: JsonObject | true | undefined,
  ) {}

  static under(schema: JsonValue | undefined): SchemaFreedom {
    return SchemaFreedom.at(schema, schema);
  }

  private static at(root: JsonValue | undefined, schema: JsonValue | undefined): SchemaFreedom {
    return new SchemaFreedom(root, resolved(root, schema ?? true));
  }

  /** Whether every value is valid. */
  get isComplete(): boolean {
    return this.schema === true;
  }

  get mayCutText(): boolean {
    return this.allows(IN_TEXT);
  }

  get mayDropItems(): boolean {
    return this.allows(IN_LIST);
  }

  mayDropMember(name: string): boolean {
    if (!this.allows(IN_OBJECT)) return false;
    const required = this.schema === true ? [] : (this.schema?.['required'] ?? []);
    return Array.isArray(required) && !required.includes(name);
  }

  ofItem(): SchemaFreedom {
    if (this.schema === true) return this;
    // Items that are shortened may become equal.
    if (!this.allows(IN_LIST) || this.schema?.['uniqueItems'] === true) return NONE;
    return SchemaFreedom.at(this.root, this.schema?.['items']);
  }

  ofMember(name: string): SchemaFreedom {
    if (this.schema === true) return this;
    if (!this.schema || !this.allows(IN_OBJECT)) return NONE;
    const { properties, additionalProperties } = this.schema;
    return isJsonObject(properties) && Object.hasOwn(properties, name)
      ? SchemaFreedom.at(this.root, properties[name])
      : SchemaFreedom.at(this.root, additionalProperties);
  }

  private allows(keywords: ReadonlySet<string>): boolean {
    return this.schema === true || (this.schema !== undefined && hasOnly(this.schema, keywords));
  }

  static readonly none = new SchemaFreedom(undefined, undefined);
}

const NONE = SchemaFreedom.none;

/** Follows local references, and choices between null and one other schema: what is shortened is not null. */
function resolved(root: JsonValue | undefined, schema: JsonValue): JsonObject | true | undefined {
  let at: JsonValue | undefined = schema;
  for (let i = 0; i < MAX_REFERENCES; i++) {
    if (at === true) return true;
    if (!isJsonObject(at)) return undefined;
    const reference: JsonValue | undefined = at['$ref'];
    const choice: JsonValue | undefined = at['anyOf'] ?? at['oneOf'];
    if (reference !== undefined) {
      at = hasOnly(at, IN_REFERENCE) ? definitionAt(root, reference) : undefined;
    } else if (choice !== undefined) {
      at = hasOnly(at, IN_CHOICE) ? onlyOtherThanNull(choice) : undefined;
    } else return at;
  }
  return undefined;
}

function definitionAt(root: JsonValue | undefined, reference: JsonValue): JsonValue | undefined {
  if (typeof reference !== 'string') return undefined;
  const match = /^#\/(\$defs|definitions)\/([\w.-]+)$/.exec(reference);
  const definitions = isJsonObject(root) && match?.[1] ? root[match[1]] : undefined;
  const name = match?.[2] ?? '';
  return isJsonObject(definitions) && Object.hasOwn(definitions, name)
    ? definitions[name]
    : undefined;
}

function onlyOtherThanNull(choice: JsonValue): JsonValue | undefined {
  if (!Array.isArray(choice)) return undefined;
  const others = choice.filter((one) => !(isJsonObject(one) && one['type'] === 'null'));
  return others.length === 1 ? others[0] : undefined;
}

function hasOnly(schema: JsonObject, keywords: ReadonlySet<string>): boolean {
  return Object.keys(schema).every((key) => keywords.has(key) || key.startsWith('x-'));
}
