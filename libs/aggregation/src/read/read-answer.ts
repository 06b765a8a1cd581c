import type { JsonObject, Sliced, RawJsonObject } from '@app/platform';
import { type AnswerPieces, answerPieces } from './answer-pieces.js';
import { errorTextOf } from '../fan-out/call-outcome.js';
import { readJsonPrefix } from './json-prefix.js';

/** The members of a `tools/call` result that are read. */
const MEMBERS = ['isError', 'structuredContent', 'content'] as const;

/** Its pieces, or why there are none ("answered with …"). */
export type ReadAnswer = AnswerPieces | { readonly problem: string };

/** Reads a `tools/call` result from its bytes, only as far as an aggregated answer has room. */
export function* readAnswer(written: RawJsonObject): Sliced<ReadAnswer> {
  const start = yield* startOfAnswer(written);
  if (!start) {
    return { problem: 'answered with something that is not JSON or is nested too deeply' };
  }
  const { result, isCut } = start;
  if (result['isError'] === true) {
    return { problem: `answered with an error: ${errorTextOf(result)}` };
  }
  const read = yield* answerPieces(result);
  return { pieces: read.pieces, isCut: isCut || read.isCut };
}

interface AnswerStart {
  readonly result: JsonObject;
  /** Whether values were left out because there were too many. */
  readonly isCut: boolean;
}

/** Undefined if a member is not JSON or nested too deeply. */
function* startOfAnswer(written: RawJsonObject): Sliced<AnswerStart | undefined> {
  const result: JsonObject = {};
  let isCut = false;
  for (const member of MEMBERS) {
    const raw = written.raw(member);
    if (!raw) continue;
    yield;
    const start = yield* readJsonPrefix(raw.toString());
    if (!start) return undefined;
    result[member] = start.value;
    isCut ||= start.isCut;
  }
  return { result, isCut };
}
