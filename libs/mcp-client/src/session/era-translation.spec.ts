import { jest } from '@jest/globals';
import { type JsonObject, RawJsonObject } from '@app/platform';
import type { RequestOptions } from '../upstream.js';
import { type Call, PendingCalls } from './calls/pending-calls.js';
import { EraTranslation } from './era-translation.js';

const RESULT = RawJsonObject.of({});

describe(EraTranslation.name, () => {
  let asked: { method: string; params: JsonObject | undefined; options: RequestOptions }[];
  let outcome: unknown[];
  let calls: PendingCalls;
  let translation: EraTranslation;

  beforeEach(() => {
    jest.useFakeTimers();
    asked = [];
    outcome = [];
    calls = new PendingCalls(() => undefined);
    translation = new EraTranslation((method, params, options) => {
      asked.push({ method, params, options });
      return Promise.resolve(RESULT);
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  function detached(options: RequestOptions, afterMs = 0): Call {
    const settle = {
      resolve: (result: RawJsonObject) => outcome.push(result),
      reject: (error: Error) => outcome.push(error),
    };
    const id = calls.add('x', options, settle);
    const call = calls.detach(id);
    if (!call) throw new Error('unreachable');
    jest.advanceTimersByTime(afterMs);
    return call;
  }

  it('repeats a call with the time that it has left', async () => {
    const meta = { a: 1 };
    translation.repeat(detached({ timeoutMs: 1_000, maxTotalMs: 1_500, meta }, 800), 'x', { n: 1 });
    translation.repeat(detached({ timeoutMs: 1_000, maxTotalMs: 9_000 }, 800), 'x', undefined);
    translation.repeat(detached({ timeoutMs: 1_000, maxTotalMs: 500 }, 800), 'x', undefined);
    expect(asked).toEqual([
      { method: 'x', params: { n: 1 }, options: { timeoutMs: 700, maxTotalMs: 700, meta } },
      { method: 'x', params: undefined, options: { timeoutMs: 1_000, maxTotalMs: 8_200 } },
      { method: 'x', params: undefined, options: { timeoutMs: 1, maxTotalMs: 1 } },
    ]);
    await jest.advanceTimersByTimeAsync(0);
    expect(outcome).toEqual([RESULT, RESULT, RESULT]);
  });

  it('repeats the probe of the modern era as a ping', () => {
    translation.repeat(detached({ timeoutMs: 1_000 }), 'server/discover', undefined);
    expect(asked).toMatchObject([{ method: 'ping' }]);
  });

  it('does not repeat a call twice', () => {
    translation.repeat(detached({ timeoutMs: 1_000 }), 'x', undefined);
    const [{ options } = { options: { timeoutMs: 0 } }] = asked;
    translation.repeat(detached(options), 'x', undefined);
    expect(asked).toHaveLength(1);
    expect(outcome).toMatchObject([
      { reason: 'the server changes its protocol era again and again', executed: 'no' },
    ]);
  });
});
