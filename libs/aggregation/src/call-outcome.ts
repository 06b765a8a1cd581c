import { AppError, isJsonObject, type JsonObject } from '@app/platform';
import type { Passage } from './passage.js';

export type OutcomeStatus = 'succeeded' | 'failed' | 'timed_out' | 'unavailable';

/** What came of one call, or of several of one server. */
export interface CallOutcome {
  readonly status: OutcomeStatus;
  /** Unless it succeeded. */
  readonly error?: string;
  readonly passages: readonly Passage[];
  /** Whether an answer was too long to be read whole. */
  readonly isCut: boolean;
}

const MAX_REASON_CHARS = 300;

export function failure(status: OutcomeStatus, reason: string): CallOutcome {
  const error = reason.replaceAll(/\s+/g, ' ').slice(0, MAX_REASON_CHARS).toWellFormed();
  return { status, error, passages: [], isCut: false };
}

/** One outcome of several calls: it succeeded when one of them did. */
export function together(outcomes: readonly CallOutcome[]): CallOutcome {
  const succeeded = outcomes.filter(({ status }) => status === 'succeeded');
  const [first] = outcomes;
  if (succeeded.length === 0) {
    const reasons = new Set(outcomes.map(({ error }) => error));
    return failure(first?.status ?? 'failed', [...reasons].join('; '));
  }
  return {
    status: 'succeeded',
    passages: succeeded.flatMap(({ passages }) => passages),
    isCut: succeeded.some(({ isCut }) => isCut),
  };
}

/** The cause says more than that a server is unavailable, which the reader knows already. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) return 'its answer could not be read';
  return error.cause instanceof AppError ? error.cause.message : error.message;
}

export function errorTextOf({ content }: JsonObject): string {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const texts = blocks.map(({ text }) => text).filter((text) => typeof text === 'string');
  return texts.join(' ') || 'without a word';
}
