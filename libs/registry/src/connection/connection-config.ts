import { egressPolicy, type Env, type UrlRules, type Variables } from '@app/platform';
import { type ExchangeSettings, exchangeStrings } from './exchange-settings.js';
import { type OAuthSettings, oauthStrings } from './oauth-settings.js';

/**
 * How a server is reached, as registered: unresolved placeholders and plain secrets. Leaves this lib only masked
 * or resolved.
 */
export const transportTypes = ['STDIO', 'SSE', 'HTTP'] as const;
export type TransportType = (typeof transportTypes)[number];

export interface RemoteConfig {
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthSettings | undefined;
  readonly exchange?: ExchangeSettings | undefined;
}

export type ConnectionConfig =
  | {
      readonly transport: 'STDIO';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Working directory; by default a folder per server. */
      readonly cwd?: string | undefined;
    }
  | ({ readonly transport: 'SSE'; readonly url: string } & RemoteConfig)
  | ({ readonly transport: 'HTTP'; readonly base_url: string } & RemoteConfig);

export interface ConfigRules extends UrlRules {
  /** Whether a placeholder may name this variable; the service's own settings are excluded. */
  readonly mayReference: (name: string) => boolean;
}

/** Settings that restrict the addresses of servers. */
export type UrlSettings = Pick<
  Env,
  'MCP_AGGREGATOR_ALLOW_INSECURE_HTTP' | 'MCP_AGGREGATOR_EGRESS' | 'MCP_AGGREGATOR_EGRESS_ALLOW'
>;

export function urlRules(env: UrlSettings): UrlRules {
  return {
    allowInsecureHttp: env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
    egress: egressPolicy(env),
  };
}

export function configRules(
  env: UrlSettings,
  variables: Pick<Variables, 'mayReference'>,
): ConfigRules {
  return {
    ...urlRules(env),
    mayReference: (name) => variables.mayReference(name),
  };
}

/** Every configured string with its path. */
export function* strings(
  config: ConnectionConfig,
): Generator<readonly [loc: (string | number)[], value: string]> {
  if (config.transport === 'STDIO') {
    yield [['command'], config.command];
    for (const [index, value] of config.args.entries()) yield [['args', index], value];
    for (const [name, value] of Object.entries(config.env)) yield [['env', name], value];
    if (config.cwd !== undefined) yield [['cwd'], config.cwd];
    return;
  }
  yield config.transport === 'SSE' ? [['url'], config.url] : [['base_url'], config.base_url];
  for (const [name, value] of Object.entries(config.headers)) yield [['headers', name], value];
  if (config.oauth) yield* oauthStrings(config.oauth);
  if (config.exchange) yield* exchangeStrings(config.exchange);
}
