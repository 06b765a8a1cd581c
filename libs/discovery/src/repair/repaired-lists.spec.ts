import { specTypeSchemas } from '@modelcontextprotocol/client';
import { addFormats, Ajv } from '@modelcontextprotocol/client/validators/ajv';
import {
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
} from '@modelcontextprotocol/sdk/types.js';
import type { DiscoveredTool } from '@app/catalogue';
import { atOnce, isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import fc from 'fast-check';
import { definitionProblem, readTools } from '../tool.js';
import { SCHEMA_KEYWORDS } from './schema-keywords.js';
import { repairPrompt, repairResource } from './repair-offered.js';
import { repairTool } from './repair-tool.js';
import { soundSchema } from './sound-schema.js';

const KEYWORDS = [
  ...SCHEMA_KEYWORDS.keys(),
  ...'type required enum const pattern format $ref $id id $anchor nullable minimum exclusiveMinimum'.split(
    ' ',
  ),
  ...'multipleOf minLength uniqueItems title default $schema $async dependentRequired x-any a'.split(
    ' ',
  ),
];
const REFERENCES = [
  '#',
  '#/properties/a',
  '#/$defs/a',
  '#/$defs/b',
  '#/a',
  '#a',
  'http://x/y',
  '#/%',
];

const scalar: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom<JsonValue>(
    'object',
    'array',
    'string',
    'null',
    'int',
    '(',
    'a',
    true,
    false,
    null,
    -1,
    0,
    7,
  ),
  fc.constantFrom(...REFERENCES),
);
/** Values that validators refuse, or that lead somewhere. */
const sharp: readonly (readonly [string, JsonValue])[] = [
  ...REFERENCES.map((reference) => ['$ref', reference] as const),
  ['pattern', '('],
  ['patternProperties', { '(': {} }],
  ['type', 'any'],
  ['type', ['string', 'any']],
  ['type', ['null', 'array']],
  ['nullable', false],
  ['$defs', { a: { $ref: '#/$defs/b' }, b: {} }],
  ['properties', { a: true, b: { type: 'array' } }],
  ['properties', { a: { $ref: '#/$defs/a', required: ['z'] } }],
  ['anyOf', [{ properties: { a: {} }, required: ['a', 'b'] }, { $ref: '#/$defs/a' }]],
  ['items', [{}, { type: 7 }]],
  ['x-any', { deep: [{ $id: 'a' }] }],
];
/** Everything that a server can put where a schema belongs, mostly with keywords of JSON Schema. */
const { schema } = fc.letrec<{ value: JsonValue; schema: JsonObject }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(scalar, { maxLength: 3 }),
    fc.array(tie('value'), { maxLength: 3 }),
    tie('schema'),
    fc.dictionary(fc.constantFrom('a', 'b', '(', 'type'), tie('value'), { maxKeys: 3 }),
  ),
  schema: fc
    .array(
      fc.oneof(
        fc.tuple(fc.constantFrom(...KEYWORDS), tie('value')),
        fc.constantFrom(...sharp),
        fc.tuple(fc.constantFrom('items', 'not', 'contains'), tie('schema')),
      ),
      { maxLength: 5 },
    )
    .map((entries) => Object.fromEntries(entries)),
}));
const anything = fc.oneof(scalar, fc.array(schema, { maxLength: 2 }), schema);
const objectSchema = fc
  .tuple(schema, fc.constantFrom<JsonObject>({ type: 'object' }, { type: ['object'] }, {}))
  .map(([listed, type]): JsonObject => ({ ...listed, ...type }));
const member = fc.oneof(anything, fc.constantFrom<JsonValue>('text', [{ src: 'x', sizes: 'any' }]));

const tool: fc.Arbitrary<JsonObject> = fc
  .record(
    {
      name: fc.constantFrom<JsonValue>('a', 'b', 7, null, ''),
      inputSchema: fc.oneof(objectSchema, anything),
      outputSchema: fc.oneof(objectSchema, anything),
      title: member,
      description: member,
      icons: member,
      annotations: fc.oneof(member, fc.record({ readOnlyHint: scalar, title: scalar })),
      execution: fc.oneof(member, fc.record({ taskSupport: scalar })),
      _meta: member,
    },
    { requiredKeys: ['name', 'inputSchema'] },
  )
  .filter(isJsonObject);

const good: JsonObject = { name: 'good', inputSchema: { type: 'object' } };

function isAccepted(
  standard: { '~standard': { validate(value: unknown): unknown } },
  value: unknown,
) {
  const result = standard['~standard'].validate(value);
  return typeof result === 'object' && result !== null && !('issues' in result && result.issues);
}

const ajv = new Ajv({ strict: false, validateSchema: false, allErrors: true, logger: false });
addFormats(ajv);

/** As clients of the first version of the SDK do when they list tools. */
function compile(schemas: readonly JsonObject[]): void {
  try {
    for (const schema of schemas) ajv.compile(schema);
  } finally {
    ajv.removeSchema();
  }
}

function outputSchemasOf(tools: readonly DiscoveredTool[]): JsonObject[] {
  return tools.map(({ definition }) => definition['outputSchema']).filter(isJsonObject);
}

describe(soundSchema, () => {
  it('leaves nothing in an output schema that does not compile', () => {
    fc.assert(
      fc.property(schema, (listed) => {
        const { schema: sound, changes } = soundSchema(listed, 'output');
        expect(() => compile([sound])).not.toThrow();
        expect(changes.length > 0).toBe(sound !== listed);
      }),
      { numRuns: 500 },
    );
  });
});

describe(repairTool, () => {
  it('gives a list that both SDKs accept and can compile, whatever a server lists', () => {
    fc.assert(
      fc.property(fc.array(tool, { maxLength: 4 }), (listed) => {
        const { tools, remarks } = atOnce(readTools([...listed, good]));
        const list = { tools: tools.map(({ definition }) => definition) };
        expect(ListToolsResultSchema.safeParse(list).error).toBeUndefined();
        expect(isAccepted(specTypeSchemas.ListToolsResult, list)).toBe(true);
        expect(() => compile(outputSchemasOf(tools))).not.toThrow();
        expect(tools.map(({ originalName }) => originalName)).toContain('good');
        const named = new Set(remarks.map(({ name }) => name));
        for (const one of listed) {
          const isUnchanged = tools.some(({ definition }) => definition === one);
          if (!isUnchanged && typeof one['name'] === 'string') expect(named).toContain(one['name']);
        }
      }),
      { numRuns: 500 },
    );
  });

  it('changes nothing of what it repaired before', () => {
    fc.assert(
      fc.property(tool, (listed) => {
        const once = repairTool(listed);
        if ('refusal' in once) return;
        expect(repairTool(once.item)).toEqual({ item: once.item, repairs: [] });
      }),
      { numRuns: 500 },
    );
  });
});

describe('prompts, resources and templates', () => {
  const offered = fc.dictionary(
    fc.constantFrom(
      ...'name title description icons _meta arguments mimeType size annotations'.split(' '),
    ),
    fc.oneof(
      member,
      fc.array(fc.dictionary(fc.constantFrom('name', 'required', 'description'), scalar), {
        maxLength: 2,
      }),
      fc.dictionary(
        fc.constantFrom('audience', 'priority', 'lastModified'),
        fc.oneof(scalar, fc.array(scalar)),
      ),
    ),
  );
  const kinds = [
    [
      'prompts',
      repairPrompt,
      ListPromptsResultSchema,
      specTypeSchemas.ListPromptsResult,
      { name: 'p' },
    ],
    [
      'resources',
      (item: JsonObject) => repairResource(item, 'uri'),
      ListResourcesResultSchema,
      specTypeSchemas.ListResourcesResult,
      { uri: 'a:b' },
    ],
    [
      'resourceTemplates',
      (item: JsonObject) => repairResource(item, 'uriTemplate'),
      ListResourceTemplatesResultSchema,
      specTypeSchemas.ListResourceTemplatesResult,
      { uriTemplate: 'a:{b}' },
    ],
  ] as const;

  it.each(kinds)(
    'gives %s that both SDKs accept, whatever a server lists',
    (kind, repair, v1, v2, key) => {
      fc.assert(
        fc.property(offered, (listed) => {
          const repaired = repair({ ...listed, ...key });
          if ('refusal' in repaired) return;
          const list = { [kind]: [repaired.item] };
          expect(v1.safeParse(list).error).toBeUndefined();
          expect(isAccepted(v2, list)).toBe(true);
          expect(repair(repaired.item)).toEqual({ item: repaired.item, repairs: [] });
          expect(definitionProblem(repaired.item)).toBeUndefined();
        }),
        { numRuns: 500 },
      );
    },
  );
});
