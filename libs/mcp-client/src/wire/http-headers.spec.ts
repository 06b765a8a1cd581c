import { headerLines, ownHeaders } from './http-headers.js';

describe(ownHeaders.name, () => {
  it('leaves out headers of the connection and of the protocol, however they are written', () => {
    const reserved = [
      'Host',
      'connection',
      'content-length',
      'Content-Type',
      'transfer-encoding',
      'accept',
      'Accept-Encoding',
      'mcp-session-id',
      'MCP-Anything',
    ];
    const configured = Object.fromEntries(reserved.map((name) => [name, 'x']));
    expect(ownHeaders(configured)).toEqual({
      'user-agent': 'switchboard',
      'accept-encoding': 'identity',
    });
  });

  it('keeps all others, also our user agent replaced', () => {
    const kept = ['x-host', 'hosts', 'xmcp-a', 'accept-language', 'authorization', 'mcp'];
    const configured = Object.fromEntries(kept.map((name) => [name.toUpperCase(), 'X']));
    expect(ownHeaders({ ...configured, 'User-Agent': 'mine' })).toEqual({
      'user-agent': 'mine',
      ...Object.fromEntries(kept.map((name) => [name, 'X'])),
      'accept-encoding': 'identity',
    });
  });
});

describe(headerLines.name, () => {
  it('writes a line for each', () => {
    expect(headerLines({ a: '1', 'b-c': '\tÿ ~!' })).toBe('a: 1\r\nb-c: \tÿ ~!\r\n');
    expect(headerLines({})).toBe('');
  });

  it.each(['a b', '', 'a:', 'ä', 'a\r', ' a'])('refuses the name %j', (name) => {
    expect(() => headerLines({ [name]: 'x' })).toThrow(
      `the header ${JSON.stringify(name)} has characters that HTTP forbids`,
    );
  });

  it.each(['a\r\nb: c', 'a\n', '\0', '\u007f', '\u0100', '\u001f'])(
    'refuses the value %j',
    (value) => {
      expect(() => headerLines({ a: value })).toThrow('the header "a" has characters');
    },
  );
});
