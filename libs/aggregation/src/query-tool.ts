import type { CatalogueTool } from '@app/discovery';
import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { splitIdentifiers, termsOf } from '@app/vectors';
import type { ServerSettings } from './server-settings.js';
import { isDestructive, isReadOnly, propertiesOf, requiredOf } from './tool-definition.js';

/** One call that puts the question to a server. */
export interface PlannedCall {
  readonly tool: CatalogueTool;
  readonly arguments: JsonObject;
  /** Arguments with one word of the question each, for a server that looks for it literally and finds nothing. */
  readonly byWord: readonly JsonObject[];
  /** Why this tool, for people. */
  readonly why: string;
}

/** A call whose answer is no result but says what to ask with. */
export interface PlannedLookUp {
  readonly call: PlannedCall;
  /** Throws an AppError when the answer does not say. */
  readonly followUp: (answer: string, signal: AbortSignal) => Promise<PlannedCall>;
}

export interface QueryPlan {
  /** The best first; empty when the server has nothing to ask. */
  readonly calls: readonly PlannedCall[];
  /** Comes before what it finds out how to ask; when it fails, the calls are made instead. */
  readonly lookUp?: PlannedLookUp;
  readonly refused: readonly Refusal[];
  /** All that may be called unasked, the likest in meaning first; none when a tool is configured. */
  readonly safe: readonly CatalogueTool[];
  /** What a language model had to do with it, for people; undefined when there is none. */
  readonly planner?: string;
}

export interface Refusal {
  readonly tool: string;
  readonly reason: string;
}

interface Fit {
  readonly call: PlannedCall;
  readonly fit: number;
}

export interface Question {
  readonly query: string;
  /** How alike what a tool says of itself and the question are in meaning, −1…1. */
  readonly likeness: (tool: CatalogueTool) => number;
  /** Most calls to one server. */
  readonly maxCalls: number;
}

/** Parameters with such names are the question itself; compared without case and separators. */
const QUESTION_NAMES = new Set(
  `query q question search searchquery searchterm searchterms searchtext searchstring querytext
   querystring userquery term terms keyword keywords topic prompt`.split(/\s+/),
);
/** Parameters whose names end so are texts, but no question fits into them. */
const OTHER_NAMES = new Set(
  `path file filename dir directory folder uri url id ids uuid key token cursor code date time name
   language lang locale format branch ref sha repo repository owner user username email`.split(
    /\s+/,
  ),
);
/** What a tool that looks things up says of itself. */
const LOOKS_UP = /\b(?:search|find|query|queries|ask|answer|look ?up|retriev|recall)/i;

const MAX_KEYWORDS = 3;

/** How much it counts that a tool means what the question means, that it looks things up, that it asks for a question. */
const SHARES = { likeness: 0.5, looksUp: 0.25, isQuestion: 0.25 };

/**
 * Which tools of a server to ask, and how. Only tools that are safe to call unasked: annotated
 * read-only, or chosen by an administrator; never one annotated destructive (RULINGS R34).
 */
export function planFor(
  tools: readonly CatalogueTool[],
  settings: ServerSettings,
  question: Question,
): QueryPlan {
  if (settings.tool !== null) return configuredPlan(tools, settings.tool, settings, question);
  const fitting: Fit[] = [];
  const refused: Refusal[] = [];
  const safe: { tool: CatalogueTool; likeness: number }[] = [];
  for (const tool of tools) {
    const verdict = judged(tool, question);
    if ('reason' in verdict) refused.push(verdict);
    else fitting.push(verdict);
    if (isSafe(tool)) safe.push({ tool, likeness: question.likeness(tool) });
  }
  fitting.sort((a, b) => b.fit - a.fit || (a.call.tool.name < b.call.tool.name ? -1 : 1));
  safe.sort((a, b) => b.likeness - a.likeness || (a.tool.name < b.tool.name ? -1 : 1));
  return {
    calls: fitting.slice(0, question.maxCalls).map(({ call }) => call),
    refused,
    safe: safe.map(({ tool }) => tool),
  };
}

function isSafe(tool: CatalogueTool): boolean {
  return isReadOnly(tool) && !isDestructive(tool);
}

function judged(tool: CatalogueTool, question: Question): Fit | Refusal {
  const refuse = (reason: string): Refusal => ({ tool: tool.originalName, reason });
  if (isDestructive(tool)) return refuse('is annotated destructive');
  if (!isReadOnly(tool)) return refuse('is not annotated read-only');
  const parameter = questionParameter(tool);
  if (parameter === undefined) return refuse('takes no question');
  const given = argumentsFor(tool, parameter, {}, question.query);
  if ('missing' in given) return refuse(needs(given.missing));
  const likeness = question.likeness(tool);
  const fit =
    SHARES.likeness * Math.max(0, likeness) +
    (looksUp(tool) ? SHARES.looksUp : 0) +
    (isQuestionName(parameter) ? SHARES.isQuestion : 0);
  const reasons = [
    `takes the question as "${parameter}"`,
    ...(looksUp(tool) ? ['looks things up'] : []),
    `likeness in meaning ${likeness.toFixed(2)}`,
  ];
  const why = `fits with ${fit.toFixed(2)}: ${reasons.join(', ')}`;
  return { call: { tool, ...given, why }, fit };
}

function configuredPlan(
  tools: readonly CatalogueTool[],
  name: string,
  settings: ServerSettings,
  { query }: Question,
): QueryPlan {
  const tool = tools.find(({ originalName }) => originalName === name);
  const refuse = (reason: string): QueryPlan => ({
    calls: [],
    refused: [{ tool: name, reason }],
    safe: [],
  });
  if (!tool) return refuse('the server has no such tool');
  if (isDestructive(tool)) return refuse('is annotated destructive');
  const parameter = settings.argument ?? questionParameter(tool) ?? onlyText(tool);
  if (parameter === undefined) return refuse('takes no question; set its argument');
  const given = argumentsFor(tool, parameter, settings.arguments, query);
  if ('missing' in given) return refuse(needs(given.missing));
  return {
    calls: [{ tool, ...given, why: 'chosen by configuration' }],
    refused: [],
    safe: [],
  };
}

/** The parameter that is evidently the question, or the one required text of a tool that looks things up. */
function questionParameter(tool: CatalogueTool): string | undefined {
  const texts = textParameters(tool);
  const required = requiredOf(tool);
  const evident = texts
    .filter(isQuestionName)
    .toSorted((a, b) => Number(required.includes(b)) - Number(required.includes(a)));
  if (evident[0] !== undefined || !looksUp(tool)) return evident[0];
  const only = onlyText(tool);
  const kind = only && splitIdentifiers(only).toLowerCase().split(' ').at(-1);
  return kind && OTHER_NAMES.has(kind) ? undefined : only;
}

function onlyText(tool: CatalogueTool): string | undefined {
  const required = requiredOf(tool);
  const texts = textParameters(tool).filter((name) => required.includes(name));
  return texts.length === 1 ? texts[0] : undefined;
}

function isQuestionName(name: string): boolean {
  return QUESTION_NAMES.has(name.toLowerCase().replaceAll(/[^a-z]/g, ''));
}

function looksUp(tool: CatalogueTool): boolean {
  return LOOKS_UP.test(`${splitIdentifiers(tool.originalName)}. ${tool.description}`);
}

function textParameters(tool: CatalogueTool): string[] {
  return Object.entries(propertiesOf(tool))
    .filter(([, schema]) => isJsonObject(schema) && isFreeText(schema))
    .map(([name]) => name);
}

/** A string that may be any: no choice, no format such as a URI or a date. */
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

/** The question in its place, what was fixed by configuration, and what the schema itself fills in. */
function argumentsFor(
  tool: CatalogueTool,
  parameter: string,
  fixed: JsonObject,
  query: string,
): Pick<PlannedCall, 'arguments' | 'byWord'> | { missing: string[] } {
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
  const byWord = keywordsOf(query).map((word) => ({ ...given, [parameter]: word }));
  return { arguments: given, byWord };
}

/** The longest words of a question that say what it is about; none when there is but one. */
function keywordsOf(query: string): string[] {
  const words = new Set(query.match(/[\p{L}\p{N}][\p{L}\p{N}_.-]+[\p{L}\p{N}]/gu));
  const telling = [...words].filter((word) => termsOf(word).length > 0);
  return words.size < 2
    ? []
    : telling.toSorted((a, b) => b.length - a.length).slice(0, MAX_KEYWORDS);
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

function needs(missing: readonly string[]): string {
  return `needs other arguments too: ${missing.join(', ')}`;
}
