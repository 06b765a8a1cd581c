import type { ConnectionConfig, RemoteConfig } from './connection-config.js';
import { resolveOAuth } from './oauth-settings.js';
import { substitute, type ValueOf } from './placeholders.js';

/** The connection parameters of a transport, with every placeholder resolved. */
export type ResolvedTransport =
  | {
      readonly kind: 'STDIO';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd?: string | undefined;
    }
  | ({ readonly kind: 'SSE' | 'HTTP'; readonly url: string } & RemoteConfig);

/** Replaces placeholders; `valueOf` throws for a variable that is not set and has no default. */
export function resolveConfig(config: ConnectionConfig, valueOf: ValueOf): ResolvedTransport {
  const text = (value: string): string => substitute(value, valueOf);
  const values = (given: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, text(value)]));
  const remote = ({ headers, oauth }: RemoteConfig): RemoteConfig => ({
    headers: values(headers),
    ...(oauth && { oauth: resolveOAuth(oauth, text) }),
  });
  switch (config.transport) {
    case 'STDIO':
      return {
        kind: 'STDIO',
        command: text(config.command),
        args: config.args.map(text),
        env: values(config.env),
        ...(config.cwd !== undefined && { cwd: text(config.cwd) }),
      };
    case 'SSE':
      return { kind: 'SSE', url: text(config.url), ...remote(config) };
    case 'HTTP':
      return { kind: 'HTTP', url: text(config.base_url), ...remote(config) };
    default:
      return config satisfies never;
  }
}
