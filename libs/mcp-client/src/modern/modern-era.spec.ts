import { jest } from '@jest/globals';
import { Provenance } from '@app/mcp-protocol';
import { type JsonObject, RawJsonObject } from '@app/platform';
import type { Negotiated } from '../connect/negotiation.js';
import type { RequestOptions } from '../upstream.js';
import { ModernEra } from './modern-era.js';

const AGREED: Negotiated = {
  era: 'modern',
  protocolVersion: '2026-07-28',
  serverInfo: {},
  capabilities: {},
  instructions: undefined,
  provenance: Provenance.none,
};
const CLIENT = { clientInfo: { name: 'c', version: '1' }, clientCapabilities: { roots: {} } };
const OPTIONS: RequestOptions = { timeoutMs: 1_000 };
const more = (n: number): JsonObject => ({ resultType: 'input_required', requestState: `${n}` });

describe(ModernEra.name, () => {
  let sent: { method: string; params: JsonObject | undefined; options: RequestOptions }[];
  let streams: JsonObject[];
  let answer: (nth: number) => JsonObject;
  let era: ModernEra;

  beforeEach(() => {
    sent = [];
    streams = [];
    answer = () => ({ resultType: 'complete' });
    era = new ModernEra(
      AGREED,
      CLIENT,
      (method, params, options) => {
        sent.push({ method, params, options });
        return Promise.resolve(RawJsonObject.of(answer(sent.length)));
      },
      ({ notifications }) => {
        streams.push(notifications as JsonObject);
        return new Promise(() => undefined);
      },
    );
    era.start();
  });
  afterEach(() => {
    era.stop();
    jest.useRealTimers();
  });

  const ask = async (
    method: string,
    params?: JsonObject,
    options: Partial<RequestOptions> = {},
  ): Promise<JsonObject> => {
    const asked = { ...OPTIONS, ...options };
    return (await era.request(method, params, asked, asked.onServerRequest)).toObject();
  };

  it('sends with every request who the client is and what it can', () => {
    expect(era.envelope()).toEqual({
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': CLIENT.clientInfo,
      'io.modelcontextprotocol/clientCapabilities': CLIENT.clientCapabilities,
    });
    era.renew({ ...AGREED, protocolVersion: '2027-01-01' });
    expect(era.envelope()).toMatchObject({
      'io.modelcontextprotocol/protocolVersion': '2027-01-01',
    });
  });

  it('sends the log level with every request once it is set', async () => {
    expect(await ask('logging/setLevel', { level: 'debug' })).toEqual({});
    expect(era.envelope()).toMatchObject({ 'io.modelcontextprotocol/logLevel': 'debug' });
    await ask('logging/setLevel');
    expect(era.envelope()).not.toHaveProperty('io.modelcontextprotocol/logLevel');
    expect(sent).toEqual([]);
  });

  it('probes the server where a client sends a ping', async () => {
    await ask('ping', { a: 1 });
    expect(sent).toMatchObject([{ method: 'server/discover', params: undefined }]);
  });

  it('watches resources on its stream', async () => {
    expect(await ask('resources/subscribe', { uri: 'a:1' })).toEqual({});
    await ask('resources/subscribe', { uri: 'a:2' });
    expect(await ask('resources/unsubscribe', { uri: 'a:1' })).toEqual({});
    await ask('resources/subscribe', { uri: 'a:3' });
    expect(sent).toEqual([]);
    expect(streams[0]).toEqual({ resourceSubscriptions: ['a:1'] });
    for (const params of [undefined, { uri: 7 }]) {
      await expect(ask('resources/subscribe', params)).rejects.toMatchObject({
        rpc: { code: -32_602, message: 'uri must be a string' },
      });
    }
  });

  it('repeats arguments in headers only for calls of tools that ask for it', () => {
    const inputSchema = {
      type: 'object',
      properties: { a: { type: 'string', 'x-mcp-header': 'A' } },
    };
    era.noteTools([{ name: 'x', inputSchema }]);
    const params = { name: 'x', arguments: { a: '1' } };
    expect(era.headersFor('tools/call', params)).toEqual({ 'mcp-param-a': '1' });
    expect(era.headersFor('prompts/get', params)).toEqual({});
    const unlisted = { name: 'y', arguments: { a: '1' } };
    expect(era.headersFor('tools/call', unlisted)).toEqual({});
    expect(era.headersFor('tools/call', unlisted, inputSchema)).toEqual({ 'mcp-param-a': '1' });
    expect(era.headersFor('tools/call', undefined)).toEqual({});
  });

  it('answers what the server asks, and repeats the request with the answers', async () => {
    answer = (nth) =>
      nth === 1
        ? { resultType: 'input_required', inputRequests: { q: { method: 'a' } }, requestState: 's' }
        : { resultType: 'complete', nth };
    const onServerRequest = (method: string): Promise<JsonObject> => Promise.resolve({ method });
    expect(await ask('tools/call', { name: 'x' }, { onServerRequest })).toMatchObject({ nth: 2 });
    expect(sent.map(({ params }) => params)).toEqual([
      { name: 'x' },
      { name: 'x', requestState: 's', inputResponses: { q: { method: 'a' } } },
    ]);
    expect(era.waiting).toBe(0);
  });

  it('repeats a request without params too', async () => {
    answer = (nth) => (nth === 1 ? more(1) : { resultType: 'complete' });
    await ask('tools/list');
    expect(sent.map(({ params }) => params)).toEqual([undefined, { requestState: '1' }]);
  });

  it('hands the questions to a caller that asks for them', async () => {
    answer = more;
    expect(await ask('tools/call', {}, { allowInputRequired: true })).toEqual(more(1));
    expect(sent).toHaveLength(1);
  });

  it('ends a request whose server asks for more input ten times', async () => {
    answer = more;
    await expect(ask('tools/call', {})).rejects.toThrow('it asks for more input again and again');
    expect(sent).toHaveLength(10);
  });

  it('gives all rounds together the time of a call that reports progress', async () => {
    jest.useFakeTimers();
    answer = (nth) => {
      jest.advanceTimersByTime(900);
      return more(nth);
    };
    await expect(ask('tools/call', {})).rejects.toMatchObject({
      kind: 'timeout',
      message: expect.stringContaining('within 5 s') as string,
    });
    expect(sent.map(({ options }) => [options.timeoutMs, options.maxTotalMs])).toEqual([
      [1_000, 5_000],
      [1_000, 4_100],
      [1_000, 3_200],
      [1_000, 2_300],
      [1_000, 1_400],
      [500, 500],
    ]);
  });

  it('gives no time to a request whose time is over to the millisecond', async () => {
    jest.useFakeTimers();
    answer = (nth) => {
      jest.advanceTimersByTime(500);
      return more(nth);
    };
    await expect(ask('tools/call', {}, { maxTotalMs: 1_000 })).rejects.toMatchObject({
      kind: 'timeout',
    });
    expect(sent).toHaveLength(2);
  });

  it('ends a question at the end of that time', async () => {
    jest.useFakeTimers();
    answer = () => ({ resultType: 'input_required', inputRequests: { q: { method: 'a' } } });
    const onServerRequest = (): Promise<JsonObject> => new Promise(() => undefined);
    const asked = ask('tools/call', {}, { onServerRequest, maxTotalMs: 3_000 });
    const ended = expect(asked).rejects.toMatchObject({ kind: 'timeout' });
    await jest.advanceTimersByTimeAsync(2_999);
    expect(era.waiting).toBe(1);
    await jest.advanceTimersByTimeAsync(1);
    await ended;
    expect(era.waiting).toBe(0);
  });

  it('cancels a question with its request', async () => {
    answer = () => ({ resultType: 'input_required', inputRequests: { q: { method: 'a' } } });
    const controller = new AbortController();
    const onServerRequest = (): Promise<JsonObject> => {
      queueMicrotask(() => controller.abort());
      return new Promise(() => undefined);
    };
    const { signal } = controller;
    await expect(ask('tools/call', {}, { onServerRequest, signal })).rejects.toMatchObject({
      code: 'REQUEST_CANCELLED',
    });
  });
});
