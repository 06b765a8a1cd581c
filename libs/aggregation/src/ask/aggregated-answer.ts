import type { JsonObject } from '@app/platform';
import type { Digest } from '../rank/digest.js';
import type { ServerOutcome } from '../fan-out/fan-out.js';
import type { Source, UniquePassage } from '../read/passage.js';

export interface AnswerParts {
  readonly digest: Digest;
  readonly outcomes: readonly ServerOutcome[];
  readonly processingTimeMs: number;
  readonly explanation?: JsonObject;
}

/** The contract's answer, with the source of each text and the outcome of each server. */
export function answerOf(parts: AnswerParts): JsonObject {
  const { digest, outcomes, explanation } = parts;
  const contributing = new Set(
    digest.results.flatMap(({ sources }) => sources.map(({ server }) => server)),
  );
  return {
    results: digest.results.map(resultOf),
    metadata: {
      serversQueried: outcomes.length,
      serversSucceeded: outcomes.filter(({ status }) => status === 'succeeded').length,
      totalResultsRaw: digest.raw,
      totalResultsDedup: digest.unique,
      resultsReturned: digest.results.length,
      processingTimeMs: Math.round(parts.processingTimeMs),
      serverDiversity: rounded(contributing.size / outcomes.length),
      servers: outcomes.map(serverOf),
      ...(explanation && { explanation }),
    },
  };
}

function resultOf(passage: UniquePassage, index: number): JsonObject {
  const { text, server, tool, url, sources, score, retrievedAt } = passage;
  return {
    content: text,
    server,
    tool,
    ...(url !== undefined && { url }),
    ...(sources.length > 1 && { sources: sources.map(sourceOf) }),
    relevanceScore: rounded(score),
    rank: index + 1,
    timestamp: new Date(retrievedAt).toISOString(),
  };
}

function sourceOf({ server, tool, url }: Source): JsonObject {
  return { server, tool, ...(url !== undefined && { url }) };
}

function serverOf({ target, asked, status, error, elapsedMs, isCut }: ServerOutcome): JsonObject {
  return {
    name: target.server.name,
    status,
    tool: asked.map(({ tool }) => tool.originalName).join(', ') || null,
    elapsedMs,
    error: error ?? null,
    ...(isCut && { truncated: true }),
  };
}

function rounded(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
