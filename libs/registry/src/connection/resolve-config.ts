import type { ConnectionConfig, RemoteConfig } from './connection-config.js';
import { resolveExchange } from './exchange-settings.js';
import { resolveOAuth } from './oauth-settings.js';
import { PersonalValueMissing } from '../registry.errors.js';
import { lacksShared, personalField, substitute, type ValueOf } from './placeholders.js';

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

/** The values that one person has given, by name. */
export type PersonalValues = Readonly<Record<string, string>>;

/**
 * Replaces placeholders; `valueOf` throws for a variable that is not set and has no default. Values of a person are
 * those of `personal` alone; without a person their defaults, and headers and variables that have none are left out.
 */
export function resolveConfig(
  config: ConnectionConfig,
  valueOf: ValueOf,
  personal?: PersonalValues,
): ResolvedTransport {
  const own: ValueOf = (placeholder, fallback) => {
    const field = personalField(placeholder);
    if (field === undefined) return valueOf(placeholder, fallback);
    const value = personal ? personal[field] : fallback;
    if (value === undefined) throw new PersonalValueMissing(field);
    return value;
  };
  const text = (value: string): string => substitute(value, own);
  const values = (given: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) =>
        personal || !lacksShared(value) ? [[name, text(value)]] : [],
      ),
    );
  const remote = ({ headers, oauth, exchange }: RemoteConfig): RemoteConfig => ({
    headers: values(headers),
    ...(oauth && { oauth: resolveOAuth(oauth, text) }),
    ...(exchange && { exchange: resolveExchange(exchange, text) }),
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
