import type { Socket } from 'node:net';
import type { RpcMessage } from '@app/mcp-protocol';
import { UNCOUNTED } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { httpAnswer, type RawRequest, RawServer } from '../../../../test/support/raw-server.js';
import {
  AnswerTooLarge,
  ConnectionLost,
  CredentialsRefused,
  UpstreamHttpError,
} from '../upstream.errors.js';
import { FakeAuthorizer } from './fake-authorizer.js';
import { FakeListener } from './fake-listener.js';
import { HttpWire } from './http.wire.js';
import { SessionExpired } from './wire.js';

const json = { 'content-type': 'application/json' };
const LIMIT = 10_000;

const call = (id: number): RpcMessage => ({ jsonrpc: '2.0', id, method: 'tools/call' });
const INITIALIZE: RpcMessage = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
const NOTE: RpcMessage = { jsonrpc: '2.0', method: 'notifications/initialized' };
const resultOf = (id: number): string => `{"jsonrpc":"2.0","id":${id},"result":{}}`;

/** The head of a stream of events, and events in it; `closes` lets it end with the connection. */
const stream = (...events: string[]): Buffer =>
  Buffer.from(
    `HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n${events.join('')}`,
  );

describe(HttpWire.name, () => {
  let server: RawServer;
  let answer: (request: RawRequest, socket: Socket) => void;
  let listener: FakeListener;
  let authorizer: FakeAuthorizer;
  let wire: HttpWire;

  beforeEach(async () => {
    answer = () => undefined;
    server = await RawServer.start((request, socket) => answer(request, socket));
    listener = new FakeListener();
    authorizer = new FakeAuthorizer();
    wire = wireTo(`${server.origin}/mcp?a=1`);
    await wire.open(listener);
  });
  afterEach(async () => {
    await server.close();
    await wire.close();
  });

  function wireTo(url: string, more?: FakeAuthorizer): HttpWire {
    const limits = { maxBytes: LIMIT, room: UNCOUNTED };
    return new HttpWire({ url, headers: { 'x-own': '1' } }, limits, 5_000, more);
  }
  async function useCredentials(): Promise<void> {
    await wire.close();
    wire = wireTo(`${server.origin}/mcp`, authorizer);
    await wire.open(listener);
  }
  function send(id: number): Promise<void> {
    listener.awaited.add(id);
    return wire.send(call(id));
  }
  const always = (...raw: [number, Record<string, string>, string?]): void => {
    answer = (_request, socket) => void socket.write(httpAnswer(...raw));
  };
  async function begin(): Promise<void> {
    always(200, { ...json, 'mcp-session-id': 's1' }, resultOf(1));
    listener.awaited.add(1);
    await wire.send(INITIALIZE);
    listener.frames.length = 0;
    server.requests.length = 0;
  }

  describe('a request', () => {
    it('is a POST, and its answer belongs to it', async () => {
      always(200, json, resultOf(7));
      await send(7);
      expect(server.requests).toMatchObject([
        {
          method: 'POST',
          path: '/mcp?a=1',
          headers: { 'x-own': '1', accept: 'application/json, text/event-stream' },
          body: JSON.stringify(call(7)),
        },
      ]);
      expect(server.requests[0]?.headers).not.toHaveProperty('mcp-session-id');
      expect(listener.frames).toEqual([{ text: resultOf(7), during: 7 }]);
      expect([wire.kind, wire.logs(), listener.ends]).toEqual(['http', [], []]);
    });

    it('gets the messages of a stream of events, and ends with the stream', async () => {
      answer = (_request, socket) =>
        void socket.end(
          stream(
            ': a comment\n\n',
            'event: other\ndata: {"no":1}\n\n',
            'data: \n\n',
            'data: {"method":"x"}\n\n',
            `data: ${resultOf(7)}\n\n`,
          ),
        );
      await send(7);
      expect(listener.frames).toEqual([
        { text: '{"method":"x"}', during: 7 },
        { text: resultOf(7), during: 7 },
      ]);
    });

    it('is not sent when no one waits for its answer', async () => {
      await wire.send(call(7));
      expect(server.requests).toEqual([]);
    });

    it('fails when its answer holds no message', async () => {
      for (const body of ['', '{"method":"x"}']) {
        always(200, json, body);
        await expect(send(7)).rejects.toMatchObject({
          reason: 'its HTTP answer does not hold the answer',
          executed: 'unknown',
        });
      }
      expect(listener.frames).toHaveLength(1);
    });

    it('fails with the status and the text of the server', async () => {
      always(500, {}, 'broken');
      await expect(send(7)).rejects.toMatchObject({ httpStatus: 500, body: 'broken' });
      always(300, {}, '');
      await expect(send(7)).rejects.toBeInstanceOf(UpstreamHttpError);
      always(404, {}, 'no such page');
      await expect(send(7)).rejects.toMatchObject({ httpStatus: 404 });
      expect(listener.frames).toEqual([]);
    });

    it('fails with an answer that is too large', async () => {
      always(200, json, `{"text":"${'x'.repeat(LIMIT)}"}`);
      await expect(send(7)).rejects.toBeInstanceOf(AnswerTooLarge);
      expect(listener.ends).toEqual([]);
    });

    it('reports an answer in a stream that is too large, and no other message', async () => {
      const padding = 'x'.repeat(LIMIT);
      answer = (_request, socket) =>
        void socket.end(
          stream(
            `data: {"jsonrpc":"2.0","method":"x","params":{"text":"${padding}"}}\n\n`,
            `data: {"jsonrpc":"2.0","id":7,"result":{"text":"${padding}"}}\n\n`,
          ),
        );
      await expect(send(7)).rejects.toBeInstanceOf(ConnectionLost);
      expect(listener.oversized).toMatchObject([{ id: 7, error: expect.any(AnswerTooLarge) }]);
    });

    it('leaves open whether it was executed when the connection breaks', async () => {
      answer = (_request, socket) => void socket.destroy();
      await expect(send(7)).rejects.toMatchObject({ executed: 'unknown' });
      expect(listener.ends).toEqual([]);
    });

    it('ends the wire when the server cannot be reached', async () => {
      await server.close();
      await expect(send(7)).rejects.toMatchObject({ executed: 'no' });
      expect(listener.ends).toMatchObject([
        { executed: 'no', reason: expect.stringMatching(/^unreachable \(.+\)$/) as string },
      ]);
    });

    it('is aborted when it is abandoned, and no other one', async () => {
      const [one, two] = [send(7), send(8)];
      await eventually(() => expect(server.requests).toHaveLength(2));
      expect([wire.mayHaveSent(7), wire.mayHaveSent(9)]).toEqual([true, false]);
      wire.abandon(7);
      await expect(one).rejects.toMatchObject({ executed: 'unknown' });
      expect([wire.mayHaveSent(7), wire.mayHaveSent(8)]).toEqual([false, true]);
      wire.abandon(8);
      await expect(two).rejects.toBeInstanceOf(ConnectionLost);
    });

    it('carries headers of its own', async () => {
      always(200, json, resultOf(7));
      listener.awaited.add(7);
      await wire.send(call(7), { 'mcp-param-a': '1' });
      expect(server.requests[0]?.headers).toMatchObject({ 'mcp-param-a': '1' });
    });
  });

  describe('a notification', () => {
    it('is sent, and its answer is ignored', async () => {
      always(202, json, '{"jsonrpc":"2.0","method":"x"}');
      await wire.send(NOTE);
      expect(server.requests).toMatchObject([{ method: 'POST', body: JSON.stringify(NOTE) }]);
      expect(listener.frames).toEqual([]);
    });

    it('fails when the server refuses it', async () => {
      always(500, {}, '');
      await expect(wire.send(NOTE)).rejects.toBeInstanceOf(UpstreamHttpError);
    });

    it('ends with a stream of events that answers it', async () => {
      answer = (_request, socket) => void socket.end(stream('data: {"method":"x"}\n\n'));
      await wire.send(NOTE);
      expect(listener.frames).toEqual([{ text: '{"method":"x"}', during: undefined }]);
    });
  });

  describe('a session', () => {
    it('is the one that the server gives', async () => {
      await begin();
      wire.setProtocolVersion('2025-11-25');
      always(200, json, resultOf(7));
      await send(7);
      expect(server.requests[0]?.headers).toMatchObject({
        'mcp-session-id': 's1',
        'mcp-protocol-version': '2025-11-25',
      });
      expect(wire.epoch).toBe(1);
      wire.forget();
      await send(7);
      expect(server.requests[1]?.headers).not.toHaveProperty('mcp-session-id');
    });

    it('is not begun by a refusal', async () => {
      always(400, { 'mcp-session-id': 's1' }, 'no');
      listener.awaited.add(1);
      await expect(wire.send(INITIALIZE)).rejects.toBeInstanceOf(UpstreamHttpError);
      expect(wire.epoch).toBe(0);
    });

    it('is not changed by the answers to other requests', async () => {
      await begin();
      always(200, { ...json, 'mcp-session-id': 's2' }, resultOf(7));
      await send(7);
      await send(7);
      expect(server.requests[1]?.headers).toMatchObject({ 'mcp-session-id': 's1' });
    });

    it('is lost when the server does not know it', async () => {
      await begin();
      always(404, {}, '');
      await expect(send(7)).rejects.toBeInstanceOf(SessionExpired);
      always(400, {}, 'no valid session');
      await expect(send(7)).rejects.toBeInstanceOf(SessionExpired);
      await expect(wire.send(NOTE)).rejects.toBeInstanceOf(SessionExpired);
      listener.awaited.add(1);
      await expect(wire.send(INITIALIZE)).rejects.toBeInstanceOf(UpstreamHttpError);
    });

    it('is ended at the server when the wire is closed, once', async () => {
      await begin();
      always(200, {}, '');
      await wire.close();
      await wire.close();
      expect(server.requests).toMatchObject([
        { method: 'DELETE', path: '/mcp?a=1', headers: { 'mcp-session-id': 's1' } },
      ]);
    });

    it('is not ended at the server when there is none', async () => {
      const waiting = send(7);
      await eventually(() => expect(server.requests).toHaveLength(1));
      await wire.close();
      await expect(waiting).rejects.toBeInstanceOf(ConnectionLost);
      expect(server.requests).toMatchObject([{ method: 'POST' }]);
    });

    it('is closed although the server does not answer that', async () => {
      await begin();
      answer = (_request, socket) => void socket.destroy();
      await expect(wire.close()).resolves.toBeUndefined();
    });
  });

  describe('credentials', () => {
    it('are refused with the status', async () => {
      for (const status of [401, 403]) {
        always(status, {}, '');
        await expect(send(7)).rejects.toMatchObject({ httpStatus: status });
        await expect(send(7)).rejects.toBeInstanceOf(CredentialsRefused);
      }
    });

    it('are renewed after a refusal, and the request is sent once more', async () => {
      await useCredentials();
      answer = ({ headers }, socket) =>
        void socket.write(
          headers['authorization'] === 'Bearer 2'
            ? httpAnswer(200, json, resultOf(7))
            : httpAnswer(401, { 'www-authenticate': 'Bearer realm="x"' }),
        );
      await send(7);
      expect(server.requests.map(({ headers }) => headers['authorization'])).toEqual([
        'Bearer 1',
        'Bearer 2',
      ]);
      expect(authorizer.refusals).toEqual([
        { status: 401, challenge: 'Bearer realm="x"', sent: 'Bearer 1' },
      ]);
      expect(listener.frames).toHaveLength(1);
    });

    it('are not renewed twice for a request', async () => {
      await useCredentials();
      authorizer.renewals = 5;
      always(401, {}, '');
      await expect(send(7)).rejects.toBeInstanceOf(CredentialsRefused);
      expect(server.requests).toHaveLength(2);
    });

    it('are waited for', async () => {
      await useCredentials();
      let isReady = (): void => undefined;
      authorizer.waiting = new Promise((resolve) => (isReady = resolve));
      always(200, json, resultOf(7));
      const sent = send(7);
      await new Promise(setImmediate);
      expect(server.requests).toEqual([]);
      authorizer.header = 'Bearer new';
      isReady();
      await sent;
      expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer new' });
    });
  });

  describe('a stream that breaks', () => {
    const broken = stream('id: e1\nretry: 1\ndata: {"method":"x"}\n\n');

    it('is resumed after its last event', async () => {
      await begin();
      answer = ({ method }, socket) =>
        void (method === 'POST'
          ? socket.end(broken)
          : socket.end(stream(`data: ${resultOf(7)}\n\n`)));
      await send(7);
      expect(server.requests).toMatchObject([
        { method: 'POST' },
        {
          method: 'GET',
          path: '/mcp?a=1',
          headers: { 'last-event-id': 'e1', 'mcp-session-id': 's1', accept: 'text/event-stream' },
        },
      ]);
      expect(listener.frames.at(-1)).toEqual({ text: resultOf(7), during: 7 });
      expect(wire.mayHaveSent(7)).toBe(false);
    });

    it('may have been sent while it is resumed', async () => {
      answer = ({ method }, socket) => void (method === 'POST' && socket.end(broken));
      const sent = send(7);
      await eventually(() => expect(server.requests).toHaveLength(2));
      expect(wire.mayHaveSent(7)).toBe(true);
      wire.abandon(7);
      await expect(sent).rejects.toBeInstanceOf(ConnectionLost);
    });
  });

  describe('the stream for messages outside of requests', () => {
    it('delivers them to no request', async () => {
      await begin();
      answer = (_request, socket) => void socket.write(stream('data: {"method":"x"}\n\n'));
      wire.listen();
      wire.listen();
      await eventually(() =>
        expect(listener.frames).toEqual([{ text: '{"method":"x"}', during: undefined }]),
      );
      expect(server.requests).toMatchObject([
        { method: 'GET', headers: { accept: 'text/event-stream', 'mcp-session-id': 's1' } },
      ]);
      wire.stopListening();
      await eventually(() => expect(server.connections).toBe(0));
    });

    it('ignores an answer that is too large and belongs to no request', async () => {
      const result = `{"jsonrpc":"2.0","id":7,"result":{"text":"${'x'.repeat(LIMIT)}"}}`;
      answer = (_request, socket) =>
        void socket.write(stream(`data: ${result}\n\n`, 'data: {"method":"x"}\n\n'));
      wire.listen();
      await eventually(() => expect(listener.frames).toHaveLength(1));
      expect(listener.oversized).toEqual([]);
    });

    it('reports the loss of the session', async () => {
      await begin();
      always(404, {}, '');
      wire.listen();
      await eventually(() => expect(listener.expired).toEqual([1]));
    });

    it('does not take a refusal without a session for its loss', async () => {
      always(404, {}, '');
      wire.listen();
      await eventually(() => expect(server.requests).toHaveLength(1));
      await eventually(() => {
        wire.listen();
        expect(server.requests.length).toBeGreaterThan(1);
      });
      expect(listener.expired).toEqual([]);
    });

    it('asks for new credentials when they are refused', async () => {
      await useCredentials();
      authorizer.renewals = 0;
      always(401, {}, '');
      wire.listen();
      await eventually(() =>
        expect(authorizer.refusals).toEqual([
          { status: 401, challenge: undefined, sent: 'Bearer 1' },
        ]),
      );
    });
  });
});
