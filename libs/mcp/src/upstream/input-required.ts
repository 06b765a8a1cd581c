import type { JsonObject } from '@app/platform';
import { isJsonObject } from './json-rpc.js';
import type { ServerRequestHandler } from './upstream.js';
import { UpstreamProtocolError } from './upstream.errors.js';

/** Puts the questions in an `input_required` result to the handler; what the same request carries when it is sent again. */
export async function answerInput(
  result: JsonObject,
  handler: ServerRequestHandler | undefined,
  signal: AbortSignal | undefined,
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
  if (!handler) throw new UpstreamProtocolError('it asks for input that nobody here can give');
  const controller = new AbortController();
  const stop = (): void => controller.abort(signal?.reason);
  signal?.addEventListener('abort', stop, { once: true });
  try {
    const answers = await Promise.all(
      Object.entries(questions).map(async ([key, question]) => {
        if (!isJsonObject(question) || typeof question['method'] !== 'string') {
          throw new UpstreamProtocolError('a question has no method');
        }
        const params = isJsonObject(question['params']) ? question['params'] : {};
        return [key, await handler(question['method'], params, controller.signal)] as const;
      }),
    );
    return { ...state, inputResponses: Object.fromEntries(answers) };
  } finally {
    // When one question failed, nobody needs the answers to the others.
    controller.abort();
    signal?.removeEventListener('abort', stop);
  }
}
