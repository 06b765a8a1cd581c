import { cutText, type JsonObject, type Sliced, tokensOf } from '@app/platform';
import type { QueryRule } from '../choose/query-rule.js';
import type { NotQueried } from '../choose/targets.js';
import type { CallTrace, ServerOutcome } from '../fan-out/fan-out.js';
import type { Digest } from '../rank/digest.js';

/** What an explanation is made of, collected while the query runs. */
export interface QueryTrace {
  readonly rule: QueryRule | undefined;
  readonly outcomes: readonly ServerOutcome[];
  readonly notQueried: readonly NotQueried[];
  readonly calls: readonly CallTrace[];
  readonly digest: Digest;
  /** Of `performance.now()`. */
  readonly times: {
    readonly started: number;
    readonly chosen: number;
    readonly answered: number;
    readonly ranked: number;
  };
  readonly limits: { readonly serverMs: number; readonly queryMs: number };
}

const MAX_CALLS = 200;
const MAX_FOLDED = 100;
const MAX_NOT_QUERIED = 100;
const BEGINNING_CHARS = 160;

/** In slices: tokens are counted in every passage that was read. */
export function* explaining(trace: QueryTrace): Sliced<JsonObject> {
  const { rule, outcomes, notQueried, calls, limits, times } = trace;
  const offset = (at: number): number => Math.round(at - times.started);
  const tokens = yield* tokensIn(trace);
  return {
    rule: rule?.pattern ?? null,
    servers: outcomes.map(serverOf),
    notQueried: notQueried
      .slice(0, MAX_NOT_QUERIED)
      .map(({ server, reason }) => ({ server, reason })),
    timeline: calls
      .toSorted((a, b) => a.startedAt - b.startedAt)
      .slice(0, MAX_CALLS)
      .map((call) => ({
        server: call.server,
        tool: call.tool,
        kind: call.kind,
        arguments: [...call.argumentNames],
        startMs: offset(call.startedAt),
        endMs: offset(call.endedAt),
        outcome: call.status,
        error: call.error ?? null,
        pieces: call.pieces,
      })),
    phases: {
      chosenMs: offset(times.chosen),
      answeredMs: offset(times.answered),
      rankedMs: offset(times.ranked),
      serverTimeoutMs: limits.serverMs,
      queryTimeoutMs: limits.queryMs,
    },
    ...foldedIn(trace.digest),
    tokens,
  };
}

function serverOf({ target, asked, planner }: ServerOutcome): JsonObject {
  return {
    name: target.server.name,
    ...(planner !== undefined && { planner }),
    asked: asked.map((call) => ({
      tool: call.tool.originalName,
      arguments: call.arguments,
      why: call.why,
    })),
    notAsked: target.refused
      .filter(({ tool }) => !asked.some((call) => call.tool.originalName === tool))
      .map(({ tool, reason }) => ({ tool, reason })),
  };
}

/** Duplicates of the results, each with the rank of the result that it was folded into. */
function foldedIn({ results }: Digest): JsonObject {
  const folded = results.flatMap(({ duplicates }, i) =>
    duplicates.map(({ server, tool, url, text }) => ({
      into: i + 1,
      server,
      tool,
      ...(url !== undefined && { url }),
      beginning: cutText(text.replaceAll(/\s+/g, ' ').trim(), BEGINNING_CHARS),
    })),
  );
  return { folded: folded.slice(0, MAX_FOLDED), foldedTotal: folded.length };
}

/** The parts add up: read = duplicates + notReturned + cut + returned. */
function* tokensIn({ outcomes, digest }: QueryTrace): Sliced<JsonObject> {
  const whole = new Map<object, number>();
  let read = 0;
  for (const { passages } of outcomes) {
    for (const { text } of passages) {
      yield;
      read += tokensOf(text);
    }
  }
  let duplicates = 0;
  for (const unique of digest.ranked) {
    yield;
    for (const { text } of unique.duplicates) duplicates += tokensOf(text);
    whole.set(unique.sources, tokensOf(unique.text));
  }
  let returned = 0;
  let beforeCut = 0;
  for (const { text, sources } of digest.results) {
    const kept = tokensOf(text);
    returned += kept;
    beforeCut += Math.max(kept, whole.get(sources) ?? kept);
  }
  const cut = beforeCut - returned;
  return { read, duplicates, notReturned: read - duplicates - beforeCut, cut, returned };
}
