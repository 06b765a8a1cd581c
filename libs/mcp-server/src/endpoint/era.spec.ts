import { classifyInboundRequest } from '@modelcontextprotocol/server';
import type { JsonObject } from '@app/platform';
import { isPlainlyLegacy, KnownEnvelopes } from './era.js';

const version = '2026-07-28';
const meta: JsonObject = {
  'io.modelcontextprotocol/protocolVersion': version,
  'io.modelcontextprotocol/clientInfo': { name: 'someone', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};
const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', _meta: meta } };
const headers = { 'mcp-protocol-version': version, 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

type Headers = Readonly<Record<string, string>>;

const withMeta = (more: JsonObject): JsonObject => ({
  ...call,
  params: { name: 'echo', _meta: { ...meta, ...more } },
});

function isModernToSdk(body: JsonObject, sent: Headers): boolean {
  const era = classifyInboundRequest({
    httpMethod: 'POST',
    body,
    protocolVersionHeader: sent['mcp-protocol-version'] ?? '',
    mcpMethodHeader: sent['mcp-method'] ?? '',
    mcpNameHeader: sent['mcp-name'] ?? '',
  });
  return era.kind === 'modern';
}

describe(KnownEnvelopes.name, () => {
  const envelopes = new KnownEnvelopes();
  beforeAll(() => {
    expect(isModernToSdk(call, headers)).toBe(true);
    envelopes.remember({ ...call, jsonrpc: '2.0' });
  });

  it('accepts no envelope that was not validated before', () => {
    expect(new KnownEnvelopes().modernRequestIn(call, headers)).toBeUndefined();
  });

  it('recognises a client by its envelope, whatever the request', () => {
    const other = { ...call, id: 'x', params: { name: 'other', arguments: { a: 1 }, _meta: meta } };
    expect(envelopes.modernRequestIn(other, headers)).toEqual({ request: other, version });
    expect(envelopes.modernRequestIn(withMeta({ progressToken: 7 }), headers)).toBeDefined();
    const traced = withMeta({ traceparent: '00-1-2-00', tracestate: 'a=1' });
    expect(envelopes.modernRequestIn(traced, headers)).toBeDefined();
  });

  it.each<[string, JsonObject, Headers]>([
    ['another method in the header', call, { ...headers, 'mcp-method': 'tools/list' }],
    ['another version in the header', call, { ...headers, 'mcp-protocol-version': '2025-11-25' }],
    ['an id that is no integer', { ...call, id: 1.5 }, headers],
    ['another JSON-RPC', { ...call, jsonrpc: '1.0' }, headers],
    ['no client', withMeta({ 'io.modelcontextprotocol/clientInfo': null }), headers],
    [
      'a client without a version',
      withMeta({ 'io.modelcontextprotocol/clientInfo': { name: 'someone' } }),
      headers,
    ],
    [
      'capabilities that are none',
      withMeta({ 'io.modelcontextprotocol/clientCapabilities': [] }),
      headers,
    ],
    ['a progress token that is none', withMeta({ progressToken: {} }), headers],
    ['parameters that are no object', { ...call, params: [] }, headers],
    ['a field that JSON-RPC does not have', { ...call, result: {} }, headers],
  ])('leaves to the SDK, which refuses it: %s', (_name, body, sent) => {
    expect(isModernToSdk(body, sent)).toBe(false);
    expect(envelopes.modernRequestIn(body, sent)).toBeUndefined();
  });

  it.each<[string, JsonObject]>([
    ['other capabilities', withMeta({ 'io.modelcontextprotocol/clientCapabilities': {} })],
    ['more than it has to say', withMeta({ 'example.com/note': 'x' })],
  ])('leaves to the SDK, which takes it: %s', (_name, body) => {
    expect(isModernToSdk(body, headers)).toBe(true);
    expect(envelopes.modernRequestIn(body, headers)).toBeUndefined();
  });
});

describe('the envelopes that are remembered', () => {
  const clientOf = (name: string): JsonObject =>
    withMeta({ 'io.modelcontextprotocol/clientInfo': { name, version: '1' } });
  const isKnown = (envelopes: KnownEnvelopes, name: string): boolean =>
    envelopes.modernRequestIn(clientOf(name), headers) !== undefined;
  const remember = (envelopes: KnownEnvelopes, name: string, owner?: string): void =>
    envelopes.remember({ ...call, jsonrpc: '2.0', ...clientOf(name) }, owner);

  it('include the log level, and no progress token', () => {
    const envelopes = new KnownEnvelopes();
    const loud = withMeta({ 'io.modelcontextprotocol/logLevel': 'debug' });
    envelopes.remember({ ...call, jsonrpc: '2.0', ...loud });
    expect(envelopes.modernRequestIn(loud, headers)).toBeDefined();
    expect(envelopes.modernRequestIn(call, headers)).toBeUndefined();
    envelopes.remember({ ...call, jsonrpc: '2.0', ...withMeta({ progressToken: 1 }) });
    expect(envelopes.modernRequestIn(call, headers)).toBeDefined();
    expect(envelopes.modernRequestIn(withMeta({ progressToken: 'x' }), headers)).toBeDefined();
  });

  it('are none without a revision or metadata', () => {
    const envelopes = new KnownEnvelopes();
    const { 'io.modelcontextprotocol/protocolVersion': _, ...others } = meta;
    for (const params of [undefined, {}, { _meta: 'x' }, { _meta: others }, { _meta: {} }]) {
      const body = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        ...(params && { params }),
      } as const;
      envelopes.remember({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
      for (const sent of [headers, { 'mcp-method': 'tools/call' }]) {
        expect(envelopes.modernRequestIn(body, sent)).toBeUndefined();
      }
    }
  });

  it('are none that are very long', () => {
    const envelopes = new KnownEnvelopes();
    // The rest of the envelope takes some of the 4096 characters.
    remember(envelopes, 'x'.repeat(3_900));
    remember(envelopes, 'x'.repeat(4_096));
    expect(isKnown(envelopes, 'x'.repeat(3_900))).toBe(true);
    expect(isKnown(envelopes, 'x'.repeat(4_096))).toBe(false);
  });

  it('are at most a thousand, and those of the principal that has most are forgotten first', () => {
    const envelopes = new KnownEnvelopes();
    remember(envelopes, 'of bob', 'bob');
    for (let n = 0; n < 999; n++) remember(envelopes, `${n}`, 'alice');
    // One that is known takes no place.
    remember(envelopes, '5', 'alice');
    expect(isKnown(envelopes, '0')).toBe(true);
    remember(envelopes, '999', 'alice');
    remember(envelopes, 'too', 'bob');
    expect(['of bob', 'too', '0', '1', '2', '999'].map((name) => isKnown(envelopes, name))).toEqual(
      [true, true, false, false, true, true],
    );
  });

  it('do not let an initialize pass', () => {
    const envelopes = new KnownEnvelopes();
    remember(envelopes, 'x');
    const initialize = { ...clientOf('x'), method: 'initialize' };
    const sent = { ...headers, 'mcp-method': 'initialize' };
    expect(envelopes.modernRequestIn(initialize, sent)).toBeUndefined();
    expect(envelopes.modernRequestIn(clientOf('x'), headers)).toBeDefined();
  });

  it('let no notification and no batch pass', () => {
    const envelopes = new KnownEnvelopes();
    remember(envelopes, 'x');
    const { id: _, ...notification } = clientOf('x');
    for (const body of [notification, [clientOf('x')], undefined]) {
      expect(envelopes.modernRequestIn(body, headers)).toBeUndefined();
    }
  });
});

describe('a message of a session', () => {
  it.each<[unknown, string | undefined]>([
    [{ ...call, params: {} }, undefined],
    [{ ...call, params: { _meta: {} } }, '2025-11-25'],
    [{ ...call, params: { _meta: 'x' } }, '2025-11-25'],
    [{ ...call, params: 'x' }, undefined],
    [[{ ...call, params: {} }, 7], undefined],
    ['text', undefined],
  ])('is plain to see in %j with revision %j', (body, revision) =>
    expect(isPlainlyLegacy(body, revision)).toBe(true),
  );

  it.each<[unknown, string | undefined]>([
    [{ ...call, params: {} }, '2026'],
    [{ ...call, params: {} }, version],
    [call, undefined],
    [call, '2025-11-25'],
    [[{ ...call, params: {} }, call], undefined],
  ])('is not in %j with revision %j', (body, revision) =>
    expect(isPlainlyLegacy(body, revision)).toBe(false),
  );
});
