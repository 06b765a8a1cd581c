import { jest } from '@jest/globals';
import type { JsonObject } from '@app/platform';
import { answerInput } from './input-required.js';
import type { ServerRequestHandler } from '../upstream.js';

const late = new Error('too late');
const QUESTION = { method: 'elicitation/create', params: { message: 'Name?' } };

describe(answerInput.name, () => {
  let signals: AbortSignal[];
  const hold: ServerRequestHandler = (_method, _params, signal) => {
    if (signal instanceof AbortSignal) signals.push(signal);
    return new Promise(() => undefined);
  };

  beforeEach(() => {
    signals = [];
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const answer = (
    result: JsonObject,
    handler: ServerRequestHandler | undefined,
    signal?: AbortSignal,
  ): Promise<JsonObject> => answerInput(result, handler, { signal, withinMs: 1_000, late });

  it('asks every question, and returns the answers with the state of the server', async () => {
    const asked: unknown[] = [];
    const handler: ServerRequestHandler = (method, params) => {
      asked.push([method, params]);
      return Promise.resolve({ n: asked.length });
    };
    const inputRequests = { a: QUESTION, b: { method: 'roots/list', params: 7 } };
    expect(await answer({ inputRequests, requestState: 's' }, handler)).toEqual({
      requestState: 's',
      inputResponses: { a: { n: 1 }, b: { n: 2 } },
    });
    expect(asked).toEqual([
      ['elicitation/create', { message: 'Name?' }],
      ['roots/list', {}],
    ]);
    expect(await answer({ inputRequests: { a: QUESTION }, requestState: 7 }, handler)).toEqual({
      inputResponses: { a: { n: 3 } },
    });
  });

  it('returns the state when there is no question', async () => {
    expect(await answer({ requestState: 's' }, undefined)).toEqual({ requestState: 's' });
    expect(await answer({ requestState: 's', inputRequests: {} }, undefined)).toEqual({
      requestState: 's',
    });
  });

  it.each([
    ['without a question', {}],
    ['without a question', { inputRequests: 'x', requestState: 7 }],
    ['that this caller cannot give', { inputRequests: { a: QUESTION } }],
  ])('refuses a server that asks for input %s', async (why, result) => {
    await expect(answer(result, undefined)).rejects.toThrow(`it asks for input ${why}`);
  });

  it.each([7, {}, { method: 7 }])('refuses the question %j', async (question) => {
    const inputRequests = { a: question, b: QUESTION };
    await expect(answer({ inputRequests }, hold)).rejects.toThrow('a question has no method');
    expect(signals.every(({ aborted }) => aborted)).toBe(true);
  });

  it('cancels the questions when the call is cancelled', async () => {
    const controller = new AbortController();
    const answered = answer({ inputRequests: { a: QUESTION } }, hold, controller.signal);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    controller.abort();
    await expect(answered).rejects.toMatchObject({ code: 'REQUEST_CANCELLED' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('cancels the questions when they are not answered in time', async () => {
    const answered = answer({ inputRequests: { a: QUESTION } }, hold);
    const ended = expect(answered).rejects.toBe(late);
    await jest.advanceTimersByTimeAsync(999);
    expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
    await jest.advanceTimersByTimeAsync(1);
    await ended;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('cancels the other questions when one fails', async () => {
    const inputRequests = { a: QUESTION, b: { method: 'fail' } };
    const handler: ServerRequestHandler = (method, ...rest) =>
      method === 'fail' ? Promise.reject(new Error('no')) : hold(method, ...rest);
    await expect(answer({ inputRequests }, handler)).rejects.toThrow('no');
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('leaves no listener and no timer behind', async () => {
    const { signal } = new AbortController();
    const remove = jest.spyOn(signal, 'removeEventListener');
    await answer({ inputRequests: { a: QUESTION } }, () => Promise.resolve({}), signal);
    expect(remove).toHaveBeenCalledWith('abort', expect.any(Function));
    expect(jest.getTimerCount()).toBe(0);
  });
});
