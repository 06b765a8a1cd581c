import { AppError, isJsonObject, type JsonObject } from '@app/platform';
import type { Passage } from '../read/passage.js';

export type OutcomeStatus = 'succeeded' | 'failed' | 'timed_out' | 'unavailable';

/** The outcome of one call, or of several calls to one server. */
export interface CallOutcome {
  readonly status: OutcomeStatus;
  /** Set unless it succeeded. */
  readonly error?: string;
  readonly passages: readonly Passage[];
  /** Whether an answer was read only in part because of its size. */
  readonly isCut: boolean;
}

const MAX_REASON_CHARS = 300;
/** Before white space is collapsed: an error text may be megabytes of it. */
const MAX_READ_CHARS = 10 * MAX_REASON_CHARS;

export function failure(status: OutcomeStatus, reason: string): CallOutcome {
  const start = reason.slice(0, MAX_READ_CHARS).replaceAll(/\s+/g, ' ');
  const error = start.slice(0, MAX_REASON_CHARS).toWellFormed();
  return { status, error, passages: [], isCut: false };
}

/** Merges the outcomes of several calls: succeeded if one of them did. */
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

/**
 * The cause, if there is one: it is more specific than "server unavailable". With the outcome of an interrupted call
 * (contract R46).
 */
export function reasonOf(error: unknown): string {
  if (!(error instanceof AppError)) return 'its answer could not be read';
  const reason = error.cause instanceof AppError ? error.cause.message : error.message;
  const outcome = error.context?.['outcome'];
  return typeof outcome === 'string' ? `${reason} (outcome: ${outcome})` : reason;
}

export function errorTextOf({ content }: JsonObject): string {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const texts = blocks.map(({ text }) => text).filter((text) => typeof text === 'string');
  return texts.join(' ').slice(0, MAX_READ_CHARS) || 'without a word';
}
