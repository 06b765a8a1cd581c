import { ConnectFailed } from './upstream.errors.js';

/** Headers that belong to the connection or the protocol, not to whoever registered the server. */
const RESERVED =
  /^(host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding|mcp-.*)$/;

export function ownHeaders(configured: Readonly<Record<string, string>>): Record<string, string> {
  const own = Object.entries(configured)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .filter(([name]) => !RESERVED.test(name));
  // Compressed bytes could not be counted as what they become.
  return { 'user-agent': 'switchboard', ...Object.fromEntries(own), 'accept-encoding': 'identity' };
}

/** As they stand in a request. Never more than one line each, wherever a value came from. */
export function headerLines(headers: Readonly<Record<string, string>>): string {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || /[^\t\x20-\x7e\x80-\xff]/.test(value)) {
      throw new ConnectFailed(
        `the header ${JSON.stringify(name)} has characters that HTTP forbids`,
      );
    }
    lines += `${name}: ${value}\r\n`;
  }
  return lines;
}
