import type { Socket } from 'node:net';
import type { RpcMessage } from '@app/mcp-protocol';
import { UNCOUNTED } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import { httpAnswer, type RawRequest, RawServer } from '../../../../test/support/raw-server.js';
import { AnswerTooLarge, ConnectionLost, CredentialsRefused } from '../upstream.errors.js';
import { FakeAuthorizer } from './fake-authorizer.js';
import { FakeListener } from './fake-listener.js';
import { SseWire } from './sse.wire.js';

const LIMIT = 10_000;
const HEAD = 'HTTP/1.1 200 x\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n';
const ENDPOINT = 'event: endpoint\ndata: /messages?session=1\n\n';
const call = (id: number): RpcMessage => ({ jsonrpc: '2.0', id, method: 'tools/call' });
const NOTE: RpcMessage = { jsonrpc: '2.0', method: 'notifications/initialized' };

describe(SseWire.name, () => {
  let server: RawServer;
  /** What the stream begins with, and how a POST is answered. */
  let begin: (socket: Socket, request: RawRequest) => void;
  let onPost: (socket: Socket, request: RawRequest) => void;
  let events: Socket;
  let listener: FakeListener;
  let authorizer: FakeAuthorizer;
  let wire: SseWire;

  beforeEach(async () => {
    begin = (socket) => void socket.write(HEAD + ENDPOINT);
    onPost = (socket) => void socket.write(httpAnswer(202, {}));
    server = await RawServer.start((request, socket) => {
      if (request.method === 'POST') return onPost(socket, request);
      events = socket;
      begin(socket, request);
    });
    listener = new FakeListener();
    authorizer = new FakeAuthorizer();
    wire = wireTo();
  });
  afterEach(async () => {
    await wire.close();
    await server.close();
  });

  function wireTo(more?: FakeAuthorizer): SseWire {
    const target = { url: `${server.origin}/sse?a=1`, headers: { 'x-own': '1' } };
    return new SseWire(target, { maxBytes: LIMIT, room: UNCOUNTED }, 5_000, more);
  }
  const posts = (): RawRequest[] => server.requests.filter(({ method }) => method === 'POST');
  const send = (id: number): Promise<void> => {
    listener.awaited.add(id);
    return wire.send(call(id));
  };

  describe('opening', () => {
    it('waits for the URL of messages', async () => {
      let isOpen = false;
      begin = (socket) => void socket.write(HEAD);
      const opening = wire.open(listener).then(() => (isOpen = true));
      await eventually(() => expect(server.requests).toHaveLength(1));
      expect(isOpen).toBe(false);
      events.write(ENDPOINT);
      await opening;
      expect(server.requests).toMatchObject([
        {
          method: 'GET',
          path: '/sse?a=1',
          headers: { accept: 'text/event-stream', 'x-own': '1' },
        },
      ]);
      expect(server.requests[0]?.headers).not.toHaveProperty('authorization');
      expect([wire.kind, wire.epoch, wire.logs()]).toEqual(['sse', 0, []]);
    });

    it.each(['http://other.example/messages', 'https://127.0.0.1/messages', 'http://['])(
      'refuses %s as the URL of messages',
      async (url) => {
        begin = (socket) => void socket.write(`${HEAD}event: endpoint\ndata: ${url}\n\n`);
        await expect(wire.open(listener)).rejects.toThrow(
          'its message endpoint is on another origin',
        );
        await eventually(() => expect(server.connections).toBe(0));
      },
    );

    it('keeps to the first URL of messages', async () => {
      begin = (socket) => void socket.write(`${HEAD}${ENDPOINT}event: endpoint\ndata: /b\n\n`);
      await wire.open(listener);
      await send(7);
      expect(posts()).toMatchObject([{ path: '/messages?session=1' }]);
    });

    it.each([
      [500, 'HTTP 500'],
      [404, 'HTTP 404'],
      [300, 'HTTP 300'],
      [204, 'the stream of events ended'],
    ])('fails with HTTP %s', async (status, reason) => {
      begin = (socket) => void socket.write(httpAnswer(status, {}));
      await expect(wire.open(listener)).rejects.toThrow(`Connecting failed: ${reason}`);
    });

    it('fails with the next step after a redirect that is not followed', async () => {
      begin = (socket) =>
        void socket.write(httpAnswer(302, { location: 'http://other.example/sse' }));
      await expect(wire.open(listener)).rejects.toThrow(/HTTP 302: .*other\.example/);
    });

    it('fails when the stream ends or breaks before', async () => {
      begin = (socket) => void socket.end(HEAD);
      await expect(wire.open(listener)).rejects.toThrow('the stream of events ended');
      wire = wireTo();
      begin = (socket) => void socket.destroy();
      await expect(wire.open(listener)).rejects.toThrow(/the stream of events broke \(.+\)/);
    });

    it('fails with refused credentials', async () => {
      for (const status of [401, 403]) {
        wire = wireTo();
        begin = (socket) => void socket.write(httpAnswer(status, {}));
        const opening = wire.open(listener);
        await expect(opening).rejects.toMatchObject({ httpStatus: status });
        await expect(opening).rejects.toBeInstanceOf(CredentialsRefused);
      }
      expect(listener.ends).toEqual([]);
    });

    it('tries again with new credentials, once', async () => {
      wire = wireTo(authorizer);
      begin = (socket, { headers }) =>
        void socket.write(
          headers['authorization'] === 'Bearer 2'
            ? HEAD + ENDPOINT
            : httpAnswer(401, { 'www-authenticate': 'Bearer a' }),
        );
      await wire.open(listener);
      expect(authorizer.refusals).toMatchObject([
        { status: 401, challenge: 'Bearer a', sent: 'Bearer 1' },
      ]);
      wire = wireTo(authorizer);
      authorizer.renewals = 5;
      begin = (socket) => void socket.write(httpAnswer(403, {}));
      server.requests.length = 0;
      await expect(wire.open(listener)).rejects.toMatchObject({ httpStatus: 403 });
      expect(server.requests).toHaveLength(2);
    });

    it('waits for credentials', async () => {
      let isReady = (): void => undefined;
      authorizer.waiting = new Promise((resolve) => (isReady = resolve));
      wire = wireTo(authorizer);
      const opening = wire.open(listener);
      await new Promise(setImmediate);
      expect(server.requests).toEqual([]);
      authorizer.header = 'Bearer new';
      isReady();
      await opening;
      expect(server.requests[0]?.headers).toMatchObject({ authorization: 'Bearer new' });
    });
  });

  describe('messages', () => {
    beforeEach(() => wire.open(listener));

    it('come on the stream, and belong to no request', async () => {
      events.write('event: other\ndata: {"no":1}\n\ndata: {"method":"x"}\n\n');
      await eventually(() =>
        expect(listener.frames).toEqual([{ text: '{"method":"x"}', during: undefined }]),
      );
    });

    it('are POSTs to the URL of messages', async () => {
      await send(7);
      wire.setProtocolVersion('2025-11-25');
      await wire.send(NOTE);
      expect(posts()).toMatchObject([
        {
          path: '/messages?session=1',
          headers: {
            'content-type': 'application/json',
            accept: 'application/json',
            'x-own': '1',
          },
          body: JSON.stringify(call(7)),
        },
        { headers: { 'mcp-protocol-version': '2025-11-25' }, body: JSON.stringify(NOTE) },
      ]);
      expect(posts()[0]?.headers).not.toHaveProperty('mcp-protocol-version');
    });

    it('fail with the status and the text of the server', async () => {
      onPost = (socket) => void socket.write(httpAnswer(500, {}, 'broken'));
      await expect(send(7)).rejects.toMatchObject({ httpStatus: 500, body: 'broken' });
      onPost = (socket) => void socket.write(httpAnswer(300, {}));
      await expect(send(7)).rejects.toMatchObject({ httpStatus: 300 });
      for (const status of [401, 403]) {
        onPost = (socket) => void socket.write(httpAnswer(status, {}));
        await expect(send(7)).rejects.toBeInstanceOf(CredentialsRefused);
      }
    });

    it('fail with an answer that is too large', async () => {
      onPost = (socket) => void socket.write(httpAnswer(200, {}, 'x'.repeat(LIMIT + 1)));
      await expect(send(7)).rejects.toBeInstanceOf(AnswerTooLarge);
    });

    it('may have been executed when their connection breaks', async () => {
      onPost = (socket) => void socket.destroy();
      await expect(send(7)).rejects.toMatchObject({ executed: 'unknown' });
      expect(listener.ends).toEqual([]);
    });

    it('are known as sent while their request is open, and after it', async () => {
      onPost = () => undefined;
      const sent = send(7);
      await eventually(() => expect(posts()).toHaveLength(1));
      expect([wire.mayHaveSent(7), wire.mayHaveSent(8)]).toEqual([true, true]);
      wire.abandon(8);
      wire.abandon(7);
      await expect(sent).rejects.toBeInstanceOf(ConnectionLost);
      expect(wire.mayHaveSent(7)).toBe(true);
    });

    it('that are too large are reported when they are answers', async () => {
      const text = 'x'.repeat(LIMIT);
      events.write(`data: {"jsonrpc":"2.0","method":"x","params":{"text":"${text}"}}\n\n`);
      events.write(`data: {"jsonrpc":"2.0","id":7,"result":{"text":"${text}"}}\n\n`);
      await eventually(() =>
        expect(listener.oversized).toMatchObject([
          { id: 7, error: expect.any(AnswerTooLarge) as object },
        ]),
      );
    });
  });

  describe('the end of the stream', () => {
    beforeEach(() => wire.open(listener));

    it('ends the wire, and later messages are not sent', async () => {
      events.end();
      await eventually(() =>
        expect(listener.ends).toMatchObject([
          { reason: 'the stream of events ended', executed: 'unknown' },
        ]),
      );
      await expect(send(7)).rejects.toMatchObject({
        reason: 'the stream of events is closed',
        executed: 'no',
      });
      expect(posts()).toEqual([]);
    });

    it('is reported once when the server is gone', async () => {
      await server.close();
      await expect(send(7)).rejects.toMatchObject({ executed: 'no' });
      await eventually(() => expect(listener.ends).toHaveLength(1));
    });

    it('is not reported when the wire is closed', async () => {
      await wire.close();
      await eventually(() => expect(server.connections).toBe(0));
      await expect(send(7)).rejects.toMatchObject({ reason: 'the stream of events is closed' });
      expect(listener.ends).toEqual([]);
    });
  });

  it('sends nothing before it is open', async () => {
    await expect(wire.send(NOTE)).rejects.toMatchObject({ executed: 'no' });
  });

  describe('credentials', () => {
    beforeEach(() => {
      wire = wireTo(authorizer);
      return wire.open(listener);
    });

    it('are renewed after a refusal, and the message is sent once more', async () => {
      onPost = (socket, { headers }) =>
        void socket.write(httpAnswer(headers['authorization'] === 'Bearer 2' ? 202 : 401, {}));
      await send(7);
      expect(posts().map(({ headers }) => headers['authorization'])).toEqual([
        'Bearer 1',
        'Bearer 2',
      ]);
      expect(authorizer.refusals).toEqual([
        { status: 401, challenge: undefined, sent: 'Bearer 1' },
      ]);
    });

    it('are not renewed twice for a message', async () => {
      authorizer.renewals = 5;
      onPost = (socket) => void socket.write(httpAnswer(403, {}, 'no'));
      await expect(send(7)).rejects.toMatchObject({ httpStatus: 403 });
      expect(posts()).toHaveLength(2);
    });

    it('are waited for, and what waits was not sent', async () => {
      let fail: (error: Error) => void = () => undefined;
      authorizer.waiting = new Promise((_resolve, reject) => (fail = reject));
      const sent = send(7);
      expect(wire.mayHaveSent(7)).toBe(false);
      fail(new Error('no consent'));
      await expect(sent).rejects.toThrow('no consent');
      expect([posts(), wire.mayHaveSent(7)]).toEqual([[], true]);
    });
  });
});
