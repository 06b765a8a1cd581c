import { ConnectFailed } from '../upstream.errors.js';

/** Headers of the connection or the protocol, which the configuration of a server cannot set. */
const RESERVED =
  /^(host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding|mcp-.*)$/;

export function ownHeaders(configured: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(configured)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !RESERVED.test(name));
  // The size limits count decoded bytes, so request no compression.
  return { 'user-agent': 'switchboard', ...Object.fromEntries(own), 'accept-encoding': 'identity' };
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const FORBIDDEN = /[^\t\x20-\x7e\x80-\xff]/;

/** Header lines of a request. A value never spans more than one line, wherever it came from. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || FORBIDDEN.test(value)) {
      throw new ConnectFailed(
        `the header ${JSON.stringify(name)} has characters that HTTP forbids`,
      );
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
