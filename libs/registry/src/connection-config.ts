import { z } from 'zod';
import {
  type Env,
  type FieldIssue,
  isCleanText,
  isLoopbackHost,
  type Variables,
} from '@app/platform';
import {
  maskOAuth,
  type OAuthConfig,
  oauthIssues,
  oauthSchema,
  oauthSecrets,
  oauthStrings,
  resolveOAuth,
} from './oauth-config.js';
import { isVariableName, MASK, maskLiterals, placeholdersIn, substitute } from './placeholders.js';

/** How a server is reached, as registered: placeholders unresolved, secrets inside. Leaves this lib only masked or resolved. */
export const transportTypes = ['STDIO', 'SSE', 'HTTP'] as const;
export type TransportType = (typeof transportTypes)[number];

interface RemoteConfig {
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthConfig | undefined;
}

export type ConnectionConfig =
  | {
      readonly transport: 'STDIO';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | ({ readonly transport: 'SSE'; readonly url: string } & RemoteConfig)
  | ({ readonly transport: 'HTTP'; readonly base_url: string } & RemoteConfig);

/** What opens a transport: every placeholder replaced by its value. */
export type ResolvedTransport =
  | {
      readonly kind: 'STDIO';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | ({ readonly kind: 'SSE' | 'HTTP'; readonly url: string } & RemoteConfig);

export interface ConfigRules {
  readonly allowInsecureHttp: boolean;
  /** Whether a variable may be named in a placeholder; the service's own settings may not. */
  readonly mayReference: (name: string) => boolean;
}

export function configRules(
  env: Pick<Env, 'MCP_AGGREGATOR_ALLOW_INSECURE_HTTP'>,
  variables: Pick<Variables, 'mayReference'>,
): ConfigRules {
  return {
    allowInsecureHttp: env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
    mayReference: (name) => variables.mayReference(name),
  };
}

const MAX_CONFIG_CHARS = 65_536;
const MAX_VALUE_CHARS = 32_768;
/** Set by the transport itself; a configured one would break or smuggle requests. */
const TRANSPORT_HEADERS =
  /^(?:host|content-length|content-type|transfer-encoding|connection|upgrade|te|trailer|accept|mcp-.*)$/i;

const text = z
  .string()
  .max(MAX_VALUE_CHARS, `Must have at most ${MAX_VALUE_CHARS} characters`)
  .refine((value) => isCleanText(value), 'Must not contain NUL or unpaired surrogate characters');

const headers = z
  .record(
    z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$/, 'Is not a valid header name'),
    text.refine((value) => !/[\r\n]/.test(value), 'A header value must be one line'),
  )
  .superRefine((value, context) => {
    for (const name of Object.keys(value).filter((key) => TRANSPORT_HEADERS.test(key))) {
      context.addIssue({ code: 'custom', path: [name], message: 'Is set by the transport itself' });
    }
  })
  .default({});

const remote = {
  url: text.min(1, 'Must not be empty'),
  headers,
  oauth: oauthSchema(text).optional(),
};

const schemas = {
  STDIO: z.strictObject({
    command: text.refine((value) => value.trim() !== '', 'Must not be empty'),
    args: z.array(text).max(1_000).default([]),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Is not a valid variable name'), text)
      .default({}),
  }),
  SSE: z.strictObject(remote),
  HTTP: z.strictObject({ base_url: remote.url, headers, oauth: remote.oauth }),
} as const;

const requiredField = { STDIO: 'command', SSE: 'url', HTTP: 'base_url' } as const;

export type ParsedConfig =
  | { readonly config: ConnectionConfig; readonly issues?: undefined }
  | { readonly config?: undefined; readonly issues: readonly FieldIssue[] };

/** Reads a configuration, from a request, a file or a decrypted row. Issue locations start at the configuration itself. */
export function parseConnectionConfig(
  transport: TransportType,
  raw: unknown,
  rules: ConfigRules,
): ParsedConfig {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { issues: [issue([], 'Input should be a JSON object', 'type_error')] };
  }
  const required = requiredField[transport];
  if (!(required in raw)) {
    return {
      issues: [
        issue([required], `${transport} transport requires '${required}' in connection_config`),
      ],
    };
  }
  if (JSON.stringify(raw).length > MAX_CONFIG_CHARS) {
    return { issues: [issue([], `Must have at most ${MAX_CONFIG_CHARS} characters as JSON`)] };
  }
  const parsed = schemas[transport].safeParse(raw);
  if (!parsed.success) return { issues: parsed.error.issues.flatMap(issuesOf) };
  const config = { transport, ...parsed.data } as ConnectionConfig;
  const issues = [
    ...placeholderIssues(config, rules),
    ...urlIssues(config, rules),
    ...(config.transport === 'STDIO' ? [] : oauthIssues(config)),
  ];
  return issues.length > 0 ? { issues } : { config };
}

function issue(loc: FieldIssue['loc'], msg: string, type = 'value_error'): FieldIssue {
  return { loc, msg, type };
}

function issuesOf(found: z.core.$ZodIssue): FieldIssue[] {
  const loc = found.path.map((part) => (typeof part === 'symbol' ? String(part) : part));
  switch (found.code) {
    case 'unrecognized_keys':
      return found.keys.map((key) => issue([...loc, key], 'Unknown field', 'extra_forbidden'));
    case 'invalid_key':
      return [issue(loc, found.issues[0]?.message ?? 'Is not a valid name')];
    case 'invalid_type':
      return [issue(loc, `Input should be ${found.expected}`, 'type_error')];
    default:
      return [issue(loc, found.message)];
  }
}

/** Every configured string with its place. */
function* strings(
  config: ConnectionConfig,
): Generator<readonly [loc: (string | number)[], value: string]> {
  if (config.transport === 'STDIO') {
    yield [['command'], config.command];
    for (const [index, value] of config.args.entries()) yield [['args', index], value];
    for (const [name, value] of Object.entries(config.env)) yield [['env', name], value];
    return;
  }
  yield config.transport === 'SSE' ? [['url'], config.url] : [['base_url'], config.base_url];
  for (const [name, value] of Object.entries(config.headers)) yield [['headers', name], value];
  if (config.oauth) yield* oauthStrings(config.oauth);
}

function placeholderIssues(config: ConnectionConfig, rules: ConfigRules): FieldIssue[] {
  return [...strings(config)].flatMap(([loc, value]) =>
    placeholdersIn(value).flatMap((name) => {
      if (!isVariableName(name)) return [issue(loc, '${…} must hold the name of a variable')];
      return rules.mayReference(name)
        ? []
        : [issue(loc, `\${${name}} is a setting of this service and cannot be passed on`)];
    }),
  );
}

function urlIssues(config: ConnectionConfig, rules: ConfigRules): FieldIssue[] {
  if (config.transport === 'STDIO') return [];
  const [field, value] =
    config.transport === 'SSE' ? ['url', config.url] : ['base_url', config.base_url];
  const problem = urlProblem(
    substitute(value, () => 'placeholder'),
    rules,
  );
  // With a placeholder in the place of the host, only the resolved URL can be judged.
  const undecided = /^https?:\/\/[^/]*\$\{/.test(value) || value.startsWith('${');
  return problem && !undecided ? [issue([field], problem)] : [];
}

/** Why a URL may not be connected to, or undefined. */
export function urlProblem(
  value: string,
  rules: Pick<ConfigRules, 'allowInsecureHttp'>,
): string | undefined {
  if (!URL.canParse(value)) return 'Is not a valid URL';
  const { protocol, hostname } = new URL(value);
  if (protocol !== 'https:' && protocol !== 'http:') return 'Must start with https:// or http://';
  if (protocol === 'http:' && !rules.allowInsecureHttp && !isLoopbackHost(hostname)) {
    return 'Must use https: unless the host is this machine; MCP_AGGREGATOR_ALLOW_INSECURE_HTTP=true allows http:';
  }
  return undefined;
}

/** The configuration as a caller may see it (RULINGS R11). */
export function maskConfig(config: ConnectionConfig): Record<string, unknown> {
  const masked = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskLiterals(value)]));
  const remoteMasked = ({ headers, oauth }: RemoteConfig): RemoteConfig => ({
    headers: masked(headers),
    ...(oauth && { oauth: maskOAuth(oauth) }),
  });
  switch (config.transport) {
    case 'STDIO':
      return { command: config.command, args: maskArgs(config.args), env: masked(config.env) };
    case 'SSE':
      return { url: maskUrl(config.url), ...remoteMasked(config) };
    case 'HTTP':
      return { base_url: maskUrl(config.base_url), ...remoteMasked(config) };
    default:
      return config satisfies never;
  }
}

const SECRET_FLAG = /(?:token|key|secret|passw|pwd|auth|credential)/i;

/** `--api-key=x`, `--token x` and URLs with passwords are how programs are handed secrets. */
function maskArgs(args: readonly string[]): string[] {
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

/** User, password and the values of the query are masked; text that is no URL stays. */
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

/**
 * A client that reads a configuration, changes one field and writes it back sends masks: they mean
 * "as it is". Returns the new raw configuration with every masked string replaced by the stored one.
 */
export function unmask(raw: unknown, stored: ConnectionConfig): unknown {
  const visible = maskConfig(stored);
  const plain: Record<string, unknown> = { ...stored };
  const restore = (given: unknown, seen: unknown, kept: unknown): unknown => {
    if (typeof given === 'string') return given.includes(MASK) && given === seen ? kept : given;
    if (Array.isArray(given)) {
      return given.map((item, i) => restore(item, at(seen, i), at(kept, i)));
    }
    if (typeof given === 'object' && given !== null) {
      return Object.fromEntries(
        Object.entries(given).map(([key, item]) => [
          key,
          restore(item, at(seen, key), at(kept, key)),
        ]),
      );
    }
    return given;
  };
  return restore(raw, visible, plain);
}

function at(value: unknown, key: string | number): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key) as unknown;
}

/** Whether a mask is left where a value should be: nobody's secret is eight stars. */
export function maskLeftIn(config: ConnectionConfig): FieldIssue[] {
  return [...strings(config)]
    .filter(([, value]) => value.includes(MASK))
    .map(([loc]) => issue(loc, 'Is the mask of a hidden value; send the value itself'));
}

/** Replaces placeholders; `valueOf` throws for a variable that is not set. */
export function resolveConfig(
  config: ConnectionConfig,
  valueOf: (name: string) => string,
): ResolvedTransport {
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
      };
    case 'SSE':
      return { kind: 'SSE', url: text(config.url), ...remote(config) };
    case 'HTTP':
      return { kind: 'HTTP', url: text(config.base_url), ...remote(config) };
    default:
      return config satisfies never;
  }
}

/** Shorter ones would blot out ordinary words. */
const MIN_SECRET_CHARS = 6;

/** Values that must not reach a message, longest first so that no piece of one stays behind. */
export function secretsOf(resolved: ResolvedTransport): string[] {
  const values =
    resolved.kind === 'STDIO'
      ? [...Object.values(resolved.env), ...argSecrets(resolved.args)]
      : [
          ...Object.values(resolved.headers).flatMap((value) => [
            value,
            value.replace(/^\S+ /, ''),
          ]),
          ...urlSecrets(resolved.url),
          ...(resolved.oauth ? oauthSecrets(resolved.oauth) : []),
        ];
  return longestFirst(values);
}

/** Those that are worth hiding. */
export function longestFirst(secrets: readonly string[]): string[] {
  return [...new Set(secrets)]
    .filter((value) => value.length >= MIN_SECRET_CHARS)
    .toSorted((a, b) => b.length - a.length);
}

function argSecrets(args: readonly string[]): string[] {
  const masked = maskArgs(args);
  return args
    .filter((arg, index) => arg !== masked[index])
    .flatMap((arg) => [arg, arg.slice(arg.indexOf('=') + 1), ...urlSecrets(arg)]);
}

function urlSecrets(value: string): string[] {
  if (!URL.canParse(value)) return [];
  const url = new URL(value);
  const parts = [url.username, url.password, ...url.searchParams.values()];
  return parts.flatMap((part) => [part, encodeURIComponent(part)]);
}

export function redact(message: string, secrets: readonly string[]): string {
  return secrets.reduce((text, secret) => text.replaceAll(secret, MASK), message);
}
