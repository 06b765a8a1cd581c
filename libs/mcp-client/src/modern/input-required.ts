import { type CancelSignal, isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import type { ServerRequestHandler } from '../upstream.js';
import { RequestCancelled, UpstreamProtocolError } from '../upstream.errors.js';

interface Patience {
  readonly signal: CancelSignal | undefined;
  readonly withinMs: number;
  /** The error of a call whose input did not come in time. */
  readonly late: Error;
}

/** Passes the requests in an `input_required` result to the handler; returns what to add to the repeated request. */
export async function answerInput(
  result: JsonObject,
  handler: ServerRequestHandler | undefined,
  { signal, withinMs, late }: Patience,
): Promise<JsonObject> {
  const { requestState } = result;
  const questions = isJsonObject(result['inputRequests']) ? result['inputRequests'] : {};
  const state: JsonObject = typeof requestState === 'string' ? { requestState } : {};
  if (Object.keys(questions).length === 0) {
    if (!('requestState' in state)) {
      throw new UpstreamProtocolError('it asks for input without a question');
    }
    return state;
  }
  if (!handler) throw new UpstreamProtocolError('it asks for input that this caller cannot give');

  const controller = new AbortController();
  let giveUp: (error: Error) => void = () => undefined;
  const givenUp = new Promise<never>((_resolve, reject) => {
    giveUp = reject;
  });
  const cancel = (): void => giveUp(new RequestCancelled());
  const timer = setTimeout(() => giveUp(late), withinMs);
  signal?.addEventListener('abort', cancel, { once: true });
  try {
    const asked = Object.entries(questions).map(([key, question]) =>
      ask(key, question, handler, controller.signal),
    );
    const answers = await Promise.race([Promise.all(asked), givenUp]);
    return { ...state, inputResponses: Object.fromEntries(answers) };
  } finally {
    // If one request fails or the call is cancelled, the other answers are useless: cancel them.
    controller.abort();
    clearTimeout(timer);
    signal?.removeEventListener('abort', cancel);
  }
}

async function ask(
  key: string,
  question: JsonValue,
  handler: ServerRequestHandler,
  signal: AbortSignal,
): Promise<readonly [string, JsonObject]> {
  if (!isJsonObject(question) || typeof question['method'] !== 'string') {
    throw new UpstreamProtocolError('a question has no method');
  }
  const params = isJsonObject(question['params']) ? question['params'] : {};
  return [key, await handler(question['method'], params, signal)];
}
