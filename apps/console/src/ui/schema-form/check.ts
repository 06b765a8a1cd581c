import { type OutputUnit, type Schema, Validator } from '@cfworker/json-schema';
import { texts } from '../../texts/index.js';

/** One thing that is wrong, at a place of the value. */
export interface Problem {
  readonly path: readonly string[];
  readonly keyword: string;
  readonly message: string;
}

/** Keywords that only say that something inside them is wrong. */
const containers = new Set([
  'properties',
  'items',
  'prefixItems',
  'additionalItems',
  'patternProperties',
  '$ref',
  '$recursiveRef',
  'allOf',
  'if',
  'then',
  'else',
  'dependentSchemas',
]);

const DRAFTS = { '04': '4', '06': '7', '07': '7', '2019-09': '2019-09' } as const;

function draftOf(schema: object): (typeof DRAFTS)[keyof typeof DRAFTS] | '2020-12' {
  const named = '$schema' in schema && typeof schema.$schema === 'string' ? schema.$schema : '';
  const found = Object.entries(DRAFTS).find(
    ([draft]) => named.includes(`draft-${draft}`) || named.includes(`draft/${draft}`),
  );
  return found?.[1] ?? '2020-12';
}

/**
 * Compares a value with a schema of a server. The validator interprets the schema: the content security policy forbids
 * to compile it. Undefined when the schema itself cannot be used; then the server decides.
 */
export function check(schema: object, value: unknown): readonly Problem[] | undefined {
  try {
    // As it is sent: what is undefined is left out, or null in a list.
    const sent: unknown = JSON.parse(JSON.stringify(value ?? null));
    const { errors, valid } = new Validator(schema as Schema, draftOf(schema), false).validate(
      sent,
    );
    return valid ? [] : problemsOf(schema, errors);
  } catch {
    return undefined;
  }
}

function problemsOf(schema: object, errors: readonly OutputUnit[]): Problem[] {
  const alternatives = errors
    .filter(({ keyword }) => keyword === 'anyOf' || keyword === 'oneOf')
    .map(({ keywordLocation }) => keywordLocation);
  const wanted = errors.filter(
    ({ keyword, keywordLocation }) =>
      !containers.has(keyword) &&
      // What is wrong with each alternative is said once, by the keyword that lists them.
      !alternatives.some((place) => keywordLocation.startsWith(`${place}/`)),
  );
  const problems = wanted.map((error) => problemOf(schema, error));
  const seen = new Set<string>();
  return problems.filter(({ path, message }) => {
    const key = JSON.stringify([path, message]);
    return !seen.has(key) && seen.add(key);
  });
}

function problemOf(schema: object, error: OutputUnit): Problem {
  const { keyword, keywordLocation, instanceLocation, error: said } = error;
  const path = pointerSegments(instanceLocation);
  const limit = valueAt(schema, pointerSegments(keywordLocation));
  if (keyword === 'required' || keyword === 'dependentRequired') {
    const missing = /property "(.*)"/.exec(said)?.[1];
    if (missing !== undefined) {
      return { path: [...path, missing], keyword, message: texts.form.required };
    }
  }
  if (
    keyword === 'false' ||
    keyword === 'additionalProperties' ||
    keyword === 'unevaluatedProperties'
  ) {
    return { path, keyword, message: texts.form.notAllowed };
  }
  const sentence = sentences[keyword];
  return { path, keyword, message: sentence && limit !== undefined ? sentence(limit) : said };
}

const sentences: Readonly<Record<string, (limit: unknown) => string>> = {
  type: (limit) => texts.form.type(Array.isArray(limit) ? limit.join(' or ') : String(limit)),
  minimum: (limit) => texts.form.atLeast(String(limit)),
  maximum: (limit) => texts.form.atMost(String(limit)),
  exclusiveMinimum: (limit) => texts.form.moreThan(String(limit)),
  exclusiveMaximum: (limit) => texts.form.lessThan(String(limit)),
  multipleOf: (limit) => texts.form.multipleOf(String(limit)),
  minLength: (limit) => texts.form.minLength(Number(limit)),
  maxLength: (limit) => texts.form.maxLength(Number(limit)),
  minItems: (limit) => texts.form.minItems(Number(limit)),
  maxItems: (limit) => texts.form.maxItems(Number(limit)),
  uniqueItems: () => texts.form.uniqueItems,
  pattern: (limit) => texts.form.pattern(String(limit)),
  format: (limit) => texts.form.format(String(limit)),
  enum: (limit) => texts.form.oneOf(Array.isArray(limit) ? limit.map(String) : []),
  const: (limit) => texts.form.exactly(JSON.stringify(limit)),
  anyOf: () => texts.form.alternatives,
  oneOf: () => texts.form.alternatives,
};

function pointerSegments(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((segment) => decodeURIComponent(segment).replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(schema: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (node, key) =>
      typeof node === 'object' && node !== null && Object.hasOwn(node, key)
        ? (node as Readonly<Record<string, unknown>>)[key]
        : undefined,
    schema,
  );
}
