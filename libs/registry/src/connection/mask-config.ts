import type { ConnectionConfig, RemoteConfig } from './connection-config.js';
import { maskExchange } from './exchange-settings.js';
import { maskOAuth } from './oauth-settings.js';
import { maskLiterals } from './placeholders.js';

/** The configuration with secrets masked, as callers see it (contract R11). */
export function maskConfig(config: ConnectionConfig): Record<string, unknown> {
  const masked = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskLiterals(value)]));
  const remoteMasked = ({ headers, oauth, exchange }: RemoteConfig): RemoteConfig => ({
    headers: masked(headers),
    ...(oauth && { oauth: maskOAuth(oauth) }),
    ...(exchange && { exchange: maskExchange(exchange) }),
  });
  switch (config.transport) {
    case 'STDIO':
      return {
        command: config.command,
        args: maskArgs(config.args),
        env: masked(config.env),
        ...(config.cwd !== undefined && { cwd: config.cwd }),
      };
    case 'SSE':
      return { url: maskUrl(config.url), ...remoteMasked(config) };
    case 'HTTP':
      return { base_url: maskUrl(config.base_url), ...remoteMasked(config) };
    default:
      return config satisfies never;
  }
}

const SECRET_FLAG = /(?:token|key|secret|passw|pwd|auth|credential)/i;

/** Masks secrets in arguments: `--api-key=x`, `--token x`, and URLs with credentials. */
export function maskArgs(args: readonly string[]): string[] {
  return args.map((arg, index) => {
    const [flag = '', ...value] = arg.split('=');
    if (value.length > 0 && SECRET_FLAG.test(flag))
      return `${flag}=${maskLiterals(value.join('='))}`;
    const previous = args[index - 1] ?? '';
    if (
      previous.startsWith('-') &&
      !previous.includes('=') &&
      SECRET_FLAG.test(previous) &&
      !arg.startsWith('-')
    ) {
      return maskLiterals(arg);
    }
    return maskUrl(arg);
  });
}

/** Masks user, password and query values; text that is no URL is unchanged. */
export function maskUrl(value: string): string {
  return value
    .replace(
      /^([a-z][a-z0-9+.-]*:\/\/)([^/?#]*)@/i,
      (_, scheme: string, userinfo: string) =>
        `${scheme}${userinfo.split(':').map(maskLiterals).join(':')}@`,
    )
    .replace(
      /^([a-z][a-z0-9+.-]*:\/\/[^?#]*)\?([^#]*)(#.*)?$/i,
      (_, start: string, query: string) => {
        const pairs = query.split('&').map((pair) => {
          const [name = '', ...rest] = pair.split('=');
          return rest.length > 0 ? `${name}=${maskLiterals(rest.join('='))}` : maskLiterals(pair);
        });
        return `${start}?${pairs.join('&')}`;
      },
    );
}
