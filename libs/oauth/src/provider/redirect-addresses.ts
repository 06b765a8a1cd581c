import { isLoopbackHost } from '@app/platform';

/**
 * Schemes without a dot (RFC 8252 §7.1 asks for one) that known clients register. Others could be those of programs
 * that act on an address which a page opens, such as `ms-msdt:` and `search-ms:`.
 */
const APP_SCHEMES = new Set([
  ...['antigravity', 'claude', 'cursor', 'goose', 'kiro', 'lmstudio', 'raycast', 'trae', 'vscode'],
  ...['vscode-insiders', 'vscodium', 'warp', 'windsurf', 'zed'],
]);

/** What is wrong with an address that codes shall be sent to; undefined for one that a client may register. */
export function redirectProblem(address: string): string | undefined {
  if (!URL.canParse(address)) return 'a redirect_uri is no absolute address';
  const { protocol, hostname, username, password } = new URL(address);
  if (username !== '' || password !== '') return 'a redirect_uri must not name a user';
  const scheme = protocol.slice(0, -1);
  if (scheme === 'https' || (scheme === 'http' && isLoopbackHost(hostname))) return undefined;
  if (scheme === 'http') return 'a redirect_uri with http: has to be of this machine; use https:';
  if (scheme.includes('.') || APP_SCHEMES.has(scheme)) return undefined;
  return `the scheme "${scheme.slice(0, 40)}:" of a redirect_uri is not known; use https:, http://127.0.0.1 or a scheme such as com.example.app:`;
}
