import type { RpcMessage } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import type { Authorizer } from './authorizer.js';
import { HttpSession, saysSessionUnknown } from './http-session.js';

const CALL: RpcMessage = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } };
const OWN = { 'user-agent': 'switchboard', 'x-own': '1', 'accept-encoding': 'identity' };
const POST = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
};

function read(lines: string): Record<string, string> {
  const pairs = lines.trimEnd().split('\r\n');
  return Object.fromEntries(
    pairs.map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
}

describe(HttpSession.name, () => {
  let authorizer: { header: string | undefined } & Omit<Authorizer, 'header'>;
  let session: HttpSession;

  beforeEach(() => {
    authorizer = {
      header: undefined,
      ready: () => undefined,
      renew: () => Promise.resolve(false),
    };
    session = new HttpSession({ headers: { 'X-Own': '1' } }, authorizer);
  });
  const postOf = (message: RpcMessage = CALL, extra?: Record<string, string>) =>
    read(session.headersOfPost(message, extra));

  it('begins without an id and a version', () => {
    expect(read(session.headersOfBegin())).toEqual({ ...OWN, ...POST });
    expect(postOf()).toEqual({ ...OWN, ...POST });
    expect([session.hasId, session.epoch]).toEqual([false, 0]);
  });

  it('sends its id and version with every request but the one that asks for a session', () => {
    session.begin('s1');
    session.setProtocolVersion('2025-11-25');
    const known = { 'mcp-session-id': 's1', 'mcp-protocol-version': '2025-11-25' };
    expect(postOf()).toEqual({ ...OWN, ...POST, ...known });
    expect(postOf()).toEqual({ ...OWN, ...POST, ...known });
    expect(read(session.headersOfBegin())).toEqual({ ...OWN, ...POST });
    const listening = { ...OWN, ...known, accept: 'text/event-stream' };
    expect(read(session.headersOfStream(undefined))).toEqual(listening);
    expect(read(session.headersOfStream('e1'))).toEqual({ ...listening, 'last-event-id': 'e1' });
    expect(read(session.headersOfFarewell())).toEqual({ ...OWN, ...known });
    expect([session.hasId, session.epoch]).toEqual([true, 1]);
  });

  it('follows a new session, a new version and new credentials', () => {
    session.begin('s1');
    expect(postOf()).toMatchObject({ 'mcp-session-id': 's1' });
    session.begin('s2');
    expect(postOf()).toMatchObject({ 'mcp-session-id': 's2' });
    session.setProtocolVersion('2025-06-18');
    expect(postOf()).toMatchObject({ 'mcp-protocol-version': '2025-06-18' });
    authorizer.header = 'Bearer one';
    expect(postOf()).toMatchObject({ authorization: 'Bearer one' });
    authorizer.header = 'Bearer two';
    expect(postOf()).toMatchObject({ authorization: 'Bearer two' });
    session.forget();
    expect(postOf()).toEqual({ ...OWN, ...POST, authorization: 'Bearer two' });
    expect([session.hasId, session.epoch]).toEqual([false, 2]);
  });

  it('writes the same headers once', () => {
    expect(session.headersOfPost(CALL, undefined)).toBe(session.headersOfPost(CALL, undefined));
  });

  it('adds the headers of a request, for that request alone', () => {
    expect(postOf(CALL, { 'mcp-param-a': '1' })).toEqual({ ...OWN, ...POST, 'mcp-param-a': '1' });
    expect(postOf()).toEqual({ ...OWN, ...POST });
  });

  it('asks for the headers that are new for every request', () => {
    let count = 0;
    session = new HttpSession(
      { headers: {}, headersOfRequest: () => ({ traceparent: `${++count}` }) },
      undefined,
    );
    expect([postOf()['traceparent'], postOf()['traceparent']]).toEqual(['1', '2']);
    expect(read(session.headersOfBegin())['traceparent']).toBe('3');
  });

  it('repeats version, method and name of a modern message', () => {
    const params = (more: JsonObject): JsonObject => ({
      ...more,
      _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' },
    });
    const modern = (method: string, more: JsonObject = {}): RpcMessage => ({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: params(more),
    });
    const version = { 'mcp-protocol-version': '2026-07-28' };
    expect(postOf(modern('tools/call', { name: 'x' }))).toEqual({
      ...OWN,
      ...POST,
      ...version,
      'mcp-method': 'tools/call',
      'mcp-name': 'x',
    });
    expect(postOf(modern('tools/list'))).toEqual({
      ...OWN,
      ...POST,
      ...version,
      'mcp-method': 'tools/list',
    });
  });

  it('repeats nothing of a legacy message or an answer', () => {
    const messages: RpcMessage[] = [
      { jsonrpc: '2.0', id: 1, method: 'tools/call' },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: 7 } },
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: { other: 'x' } } },
      { jsonrpc: '2.0', id: 1, result: {} },
    ];
    for (const message of messages) expect(postOf(message)).toEqual({ ...OWN, ...POST });
  });
});

describe(saysSessionUnknown.name, () => {
  it.each([
    [404, 'anything', true],
    [404, undefined, true],
    [400, 'Bad Request: No valid session ID provided', true],
    [400, 'Server NOT INITIALIZED', true],
    [400, 'bad argument', false],
    [400, undefined, false],
    [500, 'session', false],
    [200, 'session', false],
  ])('judges HTTP %s with %j: %s', (status, body, isUnknown) => {
    const bytes = body === undefined ? undefined : Buffer.from(body);
    expect(saysSessionUnknown(status, bytes)).toBe(isUnknown);
  });
});
