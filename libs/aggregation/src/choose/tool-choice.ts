import type { CatalogueTool } from '@app/catalogue';
import type { JsonObject } from '@app/platform';
import { termsOf } from '@app/vectors';
import type { ServerQuerySettings } from '../settings/server-query-settings.js';
import {
  argumentsFor,
  isQueryName,
  looksUp,
  missingReason,
  onlyRequiredText,
  queryParameter,
} from './query-arguments.js';
import { isDestructive, isReadOnly } from './tool-schema.js';

/** A call that passes the query to a server. */
export interface PlannedCall {
  readonly tool: CatalogueTool;
  readonly arguments: JsonObject;
  /** Retries with one word of the query each, for servers that search literally and found nothing. */
  readonly byWord: readonly JsonObject[];
  /** Why this tool was chosen; shown in the explanation. */
  readonly why: string;
}

/** A call whose answer supplies the arguments of the next one. */
export interface PlannedLookUp {
  readonly call: PlannedCall;
  /** Throws an AppError when the answer does not supply them. */
  readonly followUp: (answer: string, signal: AbortSignal) => Promise<PlannedCall>;
}

export interface QueryPlan {
  /** Best first; empty when the server has no tool to ask. */
  readonly calls: readonly PlannedCall[];
  /** Made first; `calls` are the fallback when it fails. */
  readonly lookUp?: PlannedLookUp;
  readonly refused: readonly RefusedTool[];
  /** Tools that may be called without confirmation, by similarity; none when a tool is configured. */
  readonly safe: readonly CatalogueTool[];
  /** How the language model took part; undefined without one. Shown in the explanation. */
  readonly planner?: string;
}

export interface RefusedTool {
  readonly tool: string;
  readonly reason: string;
}

interface ToolFit {
  readonly call: Omit<PlannedCall, 'byWord'>;
  /** The parameter that takes the query. */
  readonly parameter: string;
  readonly fit: number;
}

export interface QueryContext {
  readonly query: string;
  /** Cosine of the tool's description and the query, −1…1. */
  readonly similarity: (tool: CatalogueTool) => number;
  /** Per server. */
  readonly maxCalls: number;
}

const MAX_KEYWORDS = 3;

/** Weights of the criteria for choosing a tool; they add up to 1. */
const SHARES = { similarity: 0.5, looksUp: 0.25, isQuery: 0.25 };

/**
 * Which tools of a server to ask, with which arguments. Only tools that are annotated read-only or
 * chosen by an administrator, and none annotated destructive (contract R34).
 */
export function planFor(
  tools: readonly CatalogueTool[],
  settings: ServerQuerySettings,
  context: QueryContext,
): QueryPlan {
  if (settings.tool !== null) return configuredPlan(tools, settings.tool, settings, context);
  const fitting: ToolFit[] = [];
  const refused: RefusedTool[] = [];
  const safe: { tool: CatalogueTool; similarity: number }[] = [];
  for (const tool of tools) {
    const assessed = assess(tool, context);
    if ('reason' in assessed) refused.push(assessed);
    else fitting.push(assessed);
    if (isSafe(tool)) safe.push({ tool, similarity: context.similarity(tool) });
  }
  fitting.sort((a, b) => b.fit - a.fit || (a.call.tool.name < b.call.tool.name ? -1 : 1));
  safe.sort((a, b) => b.similarity - a.similarity || (a.tool.name < b.tool.name ? -1 : 1));
  return {
    calls: fitting
      .slice(0, context.maxCalls)
      .map(({ call, parameter }) => withWords(call, parameter, context)),
    refused,
    safe: safe.map(({ tool }) => tool),
  };
}

function isSafe(tool: CatalogueTool): boolean {
  return isReadOnly(tool) && !isDestructive(tool);
}

function assess(tool: CatalogueTool, context: QueryContext): ToolFit | RefusedTool {
  const refuse = (reason: string): RefusedTool => ({ tool: tool.originalName, reason });
  if (isDestructive(tool)) return refuse('is annotated destructive');
  if (!isReadOnly(tool)) return refuse('is not annotated read-only');
  const parameter = queryParameter(tool);
  if (parameter === undefined) return refuse('takes no question');
  const given = argumentsFor(tool, parameter, {}, context.query);
  if ('missing' in given) return refuse(missingReason(given.missing));
  const similarity = context.similarity(tool);
  const fit =
    SHARES.similarity * Math.max(0, similarity) +
    (looksUp(tool) ? SHARES.looksUp : 0) +
    (isQueryName(parameter) ? SHARES.isQuery : 0);
  const reasons = [
    `takes the question as "${parameter}"`,
    ...(looksUp(tool) ? ['looks things up'] : []),
    `similarity ${similarity.toFixed(2)}`,
  ];
  const why = `fits with ${fit.toFixed(2)}: ${reasons.join(', ')}`;
  return { call: { tool, ...given, why }, parameter, fit };
}

function configuredPlan(
  tools: readonly CatalogueTool[],
  name: string,
  settings: ServerQuerySettings,
  context: QueryContext,
): QueryPlan {
  const tool = tools.find(({ originalName }) => originalName === name);
  const refuse = (reason: string): QueryPlan => ({
    calls: [],
    refused: [{ tool: name, reason }],
    safe: [],
  });
  if (!tool) return refuse('the server has no such tool');
  if (isDestructive(tool)) return refuse('is annotated destructive');
  const parameter = settings.argument ?? queryParameter(tool) ?? onlyRequiredText(tool);
  if (parameter === undefined) return refuse('takes no question; set its argument');
  const given = argumentsFor(tool, parameter, settings.arguments, context.query);
  if ('missing' in given) return refuse(missingReason(given.missing));
  const call = { tool, ...given, why: 'chosen by configuration' };
  return {
    calls: [withWords(call, parameter, context)],
    refused: [],
    safe: [],
  };
}

function withWords(call: ToolFit['call'], parameter: string, context: QueryContext): PlannedCall {
  let words = keywords.get(context);
  if (!words) keywords.set(context, (words = keywordsOf(context.query)));
  const byWord = words.map((word) => ({ ...call.arguments, [parameter]: word }));
  return { ...call, byWord };
}
/** Cached: extracting them from a long query is slow, and many tools need them. */
const keywords = new WeakMap<QueryContext, readonly string[]>();

/** The longest words that are not stop words; none when the query has only one word. */
function keywordsOf(query: string): string[] {
  const words = new Set(query.match(/[\p{L}\p{N}][\p{L}\p{N}_.-]+[\p{L}\p{N}]/gu));
  const telling = [...words].filter((word) => termsOf(word).length > 0);
  return words.size < 2
    ? []
    : telling.toSorted((a, b) => b.length - a.length).slice(0, MAX_KEYWORDS);
}
