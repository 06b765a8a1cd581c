import type { JsonObject } from '@app/platform';
import { requireHeaders, requireParamHeaders } from './header-rules.js';

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const sent = (more: Record<string, string> = {}): Record<string, string> => ({
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  ...more,
});
const call = (params: JsonObject) =>
  ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }) as const;
const disagree = 'Bad Request: the request headers and body disagree: ';

describe('the headers of a request', () => {
  it.each([
    ['mcp-protocol-version', 'the required MCP-Protocol-Version header is absent'],
    ['mcp-method', 'the required Mcp-Method header is absent'],
  ])('have %s', (name, problem) => {
    const { [name]: _, ...others } = sent({ 'mcp-name': 'echo' });
    expect(() => requireHeaders(others, call({ name: 'echo' }))).toThrow(disagree + problem);
  });

  it('name what the body names', () => {
    for (const name of ['echo', ' echo ', base64('echo')]) {
      requireHeaders(sent({ 'mcp-name': name }), call({ name: 'echo' }));
    }
    requireHeaders(sent({ 'mcp-name': base64('grüß') }), call({ name: 'grüß' }));
  });

  it('need no name where the body names nothing', () => {
    requireHeaders(sent(), call({}));
    requireHeaders(sent(), { jsonrpc: '2.0', id: 1, method: 'tools/list' });
  });

  it.each([
    [undefined, 'the required Mcp-Name header is absent'],
    ['Echo', 'the Mcp-Name header names something else than the body'],
    ['', 'the Mcp-Name header names something else than the body'],
    [base64('other'), 'the Mcp-Name header names something else than the body'],
    ['=?base64?%%%%?=', 'the Mcp-Name header is not valid Base64'],
    ['=?base64?ZWNobw?=', 'the Mcp-Name header is not valid Base64'],
    ['=?base64?ZWNobw=?=', 'the Mcp-Name header is not valid Base64'],
    ['=?base64?ZWNobw===?=', 'the Mcp-Name header is not valid Base64'],
    ['=?base64?ZWNobw==?=x', 'the Mcp-Name header names something else than the body'],
    ['x=?base64?ZWNobw==?=', 'the Mcp-Name header names something else than the body'],
  ])('are refused with the name %p', (name, problem) => {
    const headers = sent(name === undefined ? {} : { 'mcp-name': name });
    expect(() => requireHeaders(headers, call({ name: 'echo' }))).toThrow(disagree + problem);
  });
});

describe('headers for arguments', () => {
  const schema: JsonObject = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      amount: { type: 'number', 'x-mcp-header': 'Amount' },
      note: { type: 'string' },
    },
  };
  const check = (headers: Record<string, string>, args: JsonObject | undefined): void =>
    requireParamHeaders(headers, schema, args);

  it('say the same as the arguments', () => {
    check({ 'mcp-param-region': 'eu' }, { region: 'eu', note: 'x' });
    check({ 'mcp-param-region': base64('grüß') }, { region: 'grüß' });
    for (const amount of ['42', '42.0', '42.000'])
      check({ 'mcp-param-amount': amount }, { amount: 42 });
    check({ 'mcp-param-amount': '-1.250' }, { amount: -1.25 });
  });

  it('are not needed without the arguments', () => {
    check({}, {});
    check({}, { note: 'x' });
    check({}, undefined);
  });

  it.each([
    [{}, { region: 'eu' }, 'the required mcp-param-region header is absent'],
    [
      { 'mcp-param-region': 'us' },
      { region: 'eu' },
      'the mcp-param-region header says something else than the arguments',
    ],
    [
      { 'mcp-param-region': '42.0' },
      { region: '42x' },
      'the mcp-param-region header says something else than the arguments',
    ],
    [
      { 'mcp-param-amount': '43' },
      { amount: 42 },
      'the mcp-param-amount header says something else than the arguments',
    ],
    [
      { 'mcp-param-amount': '0x2a' },
      { amount: 42 },
      'the mcp-param-amount header says something else than the arguments',
    ],
    [
      { 'mcp-param-amount': '0x10' },
      { amount: 16 },
      'the mcp-param-amount header says something else than the arguments',
    ],
    [
      { 'mcp-param-region': '=?base64?%?=' },
      { region: 'eu' },
      'the mcp-param-region header is not valid Base64',
    ],
  ])('%j are refused for %j', (headers, args, problem) => {
    expect(() => check(headers as Record<string, string>, args as JsonObject)).toThrow(
      disagree + problem,
    );
  });
});
