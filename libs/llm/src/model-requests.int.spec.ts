import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import {
  type Answer,
  type FakeEndpoint,
  startFakeEndpoint,
} from '../../../test/fixtures/fake-endpoint.js';
import { ModelRequestFailed } from './llm.errors.js';
import { endpointUrl, type ModelRequestOptions, ModelRequests } from './model-requests.js';

const SECRET = 'sk-not-to-be-seen';
const NOW = new Date('2026-11-20T12:00:00Z');
const MAX_ANSWER_BYTES = 1_000;
/** Longer than any test. */
const LONG_MS = 3_600_000;

const fine: Answer = () => ({ text: 'fine' });
const silent: Answer = () => new Promise(() => undefined);
const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(code, headers).end(`no, ${SECRET}`);
    return undefined;
  };
const text =
  (body: string): Answer =>
  (_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(body);
    return undefined;
  };

describe(ModelRequests.name, () => {
  let endpoint: FakeEndpoint;
  let waits: number[];
  beforeEach(async () => {
    endpoint = await startFakeEndpoint(fine);
    waits = [];
  });
  afterEach(() => endpoint.close());

  /** Answers of the endpoint in turn, the last one from then on. */
  const answering = (...answers: Answer[]): void => {
    endpoint.answer = (request, response) => {
      const answer = answers.length > 1 ? answers.shift() : answers[0];
      return answer?.(request, response);
    };
  };
  const requests = (settings: { url?: string; timeoutMs?: number; random?: number } = {}) =>
    new ModelRequests(
      {
        url: settings.url ?? `${endpoint.url}/ask`,
        headers: { authorization: `Bearer ${SECRET}` },
        timeoutMs: settings.timeoutMs ?? LONG_MS,
        maxAnswerBytes: MAX_ANSWER_BYTES,
      },
      {
        now: () => NOW,
        sleep: (ms) => {
          waits.push(ms);
          return Promise.resolve();
        },
      },
      () => settings.random ?? 0,
    );
  const ask = (
    one: ModelRequests = requests(),
    options: ModelRequestOptions = { retries: 2 },
  ): Promise<unknown> => one.post({ q: 1 }, z.object({ text: z.string() }), options);
  const failure = async (asked: Promise<unknown>): Promise<string> => {
    const error = await asked.catch((problem: unknown) => problem);
    expect(error).toBeInstanceOf(ModelRequestFailed);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(SECRET);
    return error instanceof Error ? error.message : '';
  };

  it('posts JSON with its headers, and reads the answer', async () => {
    await expect(ask()).resolves.toEqual({ text: 'fine' });
    expect(endpoint.requests).toMatchObject([
      {
        path: '/ask',
        authorization: `Bearer ${SECRET}`,
        body: { q: 1 },
        headers: { 'content-type': 'application/json' },
      },
    ]);
  });

  describe('a busy or failing endpoint', () => {
    it.each([408, 409, 429, 500, 503, 529])('is asked again after HTTP %s', async (code) => {
      answering(status(code), fine);
      await expect(ask()).resolves.toEqual({ text: 'fine' });
      expect(endpoint.requests.length).toBe(2);
    });

    it.each([
      ['milliseconds', { 'retry-after-ms': '1234', 'retry-after': '9' }, 1_234],
      ['seconds', { 'retry-after': '7' }, 7_000],
      ['a time', { 'retry-after': 'Fri, 20 Nov 2026 12:00:03 GMT' }, 3_000],
      ['a time that has passed', { 'retry-after': 'Fri, 20 Nov 2026 11:00:00 GMT' }, 500],
      ['nonsense', { 'retry-after': 'soon' }, 500],
      ['no wait', { 'retry-after': '0' }, 500],
    ])('is asked again when it says, in %s', async (_form, headers, waitMs) => {
      answering(status(429, headers), fine);
      await ask();
      expect(waits).toEqual([waitMs]);
    });

    it('is not asked again if it wants to be left alone for more than a minute', async () => {
      answering(status(429, { 'retry-after': '61' }));
      await expect(failure(ask())).resolves.toBe('it answered HTTP 429');
      expect(waits).toEqual([]);
    });

    it('is given growing time, up to a quarter shorter by chance', async () => {
      answering(status(500));
      await failure(ask(requests(), { retries: 6 }));
      expect(waits).toEqual([500, 1_000, 2_000, 4_000, 8_000, 8_000]);
      waits = [];
      await failure(ask(requests({ random: 1 }), { retries: 1 }));
      expect(waits).toEqual([375]);
    });

    it('fails after the last retry, without the text of its answer', async () => {
      answering(status(503));
      await expect(failure(ask(requests(), { retries: 1 }))).resolves.toBe('it answered HTTP 503');
      expect(endpoint.requests.length).toBe(2);
    });

    it('decides by x-should-retry, if it has that', async () => {
      answering(status(500, { 'x-should-retry': 'false' }));
      await failure(ask());
      expect(endpoint.requests.length).toBe(1);
      answering(status(400, { 'x-should-retry': 'true' }), fine);
      await expect(ask()).resolves.toEqual({ text: 'fine' });
    });

    it('is not waited for longer than the caller does', async () => {
      const caller = new AbortController();
      answering(status(429, { 'retry-after': '30' }));
      const one = new ModelRequests(
        { url: endpoint.url, headers: {}, timeoutMs: LONG_MS, maxAnswerBytes: MAX_ANSWER_BYTES },
        {
          now: () => NOW,
          sleep: (_ms, signal) => {
            caller.abort();
            expect(signal?.aborted).toBe(true);
            return Promise.reject(new Error('aborted'));
          },
        },
      );
      const asked = ask(one, { retries: 2, signal: caller.signal });
      await expect(failure(asked)).resolves.toBe('it answered HTTP 429');
    });
  });

  it.each([400, 401, 403, 404, 422])(
    'does not repeat what is refused with HTTP %s',
    async (code) => {
      answering(status(code));
      await expect(failure(ask())).resolves.toBe(`it answered HTTP ${code}`);
      expect(endpoint.requests.length).toBe(1);
    },
  );

  it('does not follow a redirect, which would get the key', async () => {
    const other = await startFakeEndpoint(fine);
    answering(status(307, { location: other.url }));
    await expect(failure(ask())).resolves.toBe('it answered HTTP 307');
    expect(other.requests).toEqual([]);
    await other.close();
  });

  it('gives up an answer with too many bytes', async () => {
    let isClosed = false;
    answering((_request, response) => {
      response.once('close', () => (isClosed = true));
      const more = (): void => {
        if (!response.destroyed) response.write('x'.repeat(MAX_ANSWER_BYTES), () => more());
      };
      more();
      return undefined;
    });
    await expect(failure(ask())).resolves.toBe('its answer has more than 1000 bytes');
    expect(endpoint.requests.length).toBe(1);
    while (!isClosed) await new Promise(setImmediate);
  });

  it.each([
    ['is no JSON', '<html>'],
    ['ends early', '{"text":'],
    ['has another form', '{"text":5}'],
    ['is empty', ''],
  ])('refuses an answer that %s, once', async (_what, body) => {
    answering(text(body));
    await expect(failure(ask())).resolves.toBe('its answer cannot be read');
    expect(endpoint.requests.length).toBe(1);
  });

  describe('an endpoint without an answer', () => {
    it('is asked again after the time of an attempt', async () => {
      answering(silent);
      const one = requests({ timeoutMs: 20 });
      await expect(failure(ask(one))).resolves.toBe('it did not answer in time');
      expect(waits).toEqual([500, 1_000]);
    });

    it('has the same time for the last byte as for the first', async () => {
      answering((_request, response) => {
        response.writeHead(200).write('{');
        return undefined;
      });
      const one = requests({ timeoutMs: 20 });
      await expect(failure(ask(one, { retries: 0 }))).resolves.toBe('it did not answer in time');
    });

    it('is left when the caller leaves, and not asked again', async () => {
      answering(silent);
      const asked = ask(requests(), { retries: 2, signal: AbortSignal.timeout(20) });
      await expect(failure(asked)).resolves.toBe('it did not answer in time');
      expect(waits).toEqual([]);
    });

    it.each([
      ['closes the connection', 'it cannot be reached', false],
      ['breaks off its answer', 'its answer broke off', true],
    ])('that %s is asked again', async (_what, reason, isBegun) => {
      const breaking: Answer = (_request, response) => {
        if (isBegun) response.writeHead(200).write('{', () => response.destroy());
        else response.destroy();
        return new Promise(() => undefined);
      };
      answering(breaking, fine);
      await expect(ask()).resolves.toEqual({ text: 'fine' });
      answering(breaking);
      await expect(failure(ask())).resolves.toContain(reason);
    });

    it('says why it cannot be reached', async () => {
      const gone = createServer().listen(0, '127.0.0.1');
      await once(gone, 'listening');
      const { port } = gone.address() as AddressInfo;
      gone.close();
      await once(gone, 'close');
      await expect(failure(ask(requests({ url: `http://127.0.0.1:${port}/` })))).resolves.toBe(
        'it cannot be reached: Connection refused (ECONNREFUSED)',
      );
    });
  });
});

describe(endpointUrl.name, () => {
  it.each([
    ['https://host', 'https://host/v1/chat'],
    ['https://host/', 'https://host/v1/chat'],
    ['https://host/proxy//', 'https://host/proxy/v1/chat'],
    ['https://host/proxy/v1/chat/', 'https://host/proxy/v1/chat'],
    ['https://host/proxy?key=a%2Fb', 'https://host/proxy/v1/chat?key=a%2Fb'],
  ])('appends the path to %s', (base, url) => {
    expect(endpointUrl(base, '/v1/chat')).toBe(url);
  });
});
