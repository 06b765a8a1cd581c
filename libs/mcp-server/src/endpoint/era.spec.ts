import { classifyInboundRequest } from '@modelcontextprotocol/server';
import type { JsonObject } from '@app/platform';
import { KnownEnvelopes } from './era.js';

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
    ['more than it has to say', withMeta({ traceparent: '00-1-2-00' })],
  ])('leaves to the SDK, which takes it: %s', (_name, body) => {
    expect(isModernToSdk(body, headers)).toBe(true);
    expect(envelopes.modernRequestIn(body, headers)).toBeUndefined();
  });
});
