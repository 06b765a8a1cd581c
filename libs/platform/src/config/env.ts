import { createHash } from 'node:crypto';
import { z } from 'zod';
import { egressPolicy, hostProblem, parseAllowance } from '../egress/egress-policy.js';
import { failPointPattern } from '../fail-points.js';
import { keyValueList } from './key-value-list.js';
import { samplers } from '../tracing/samplers.js';
import { parseScopes, type Role, roles, type TokenScope, tokenScopes } from './token-scopes.js';

/**
 * Every setting of the service. `process.env` is read nowhere else. Units are in the description of each field; a test
 * compares the keys with `.env.example`.
 */
const flag = (otherwise: boolean) =>
  z
    .string()
    .toLowerCase()
    .pipe(z.enum(['true', 'false', '1', '0'], 'must be true or false'))
    .transform((value) => value === 'true' || value === '1')
    .default(otherwise);

const whole = (otherwise: number, min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().min(min, `must be at least ${min}`).max(max, `must be at most ${max}`))
    .default(otherwise);

const seconds = (otherwise: number, max: number) =>
  z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'must be a number of seconds')
    .transform(Number)
    .pipe(z.number().positive('must be more than 0').max(max, `must be at most ${max}`))
    .default(otherwise);

const milliseconds = (otherwise: number) => whole(otherwise, 1, 3_600_000);

/** `key=value` pairs, separated by commas. Messages identify a pair by position: its text may be a secret. */
const pairs = (kind: 'headers' | 'attributes') =>
  z
    .string()
    .default('')
    .transform((value, context): Readonly<Record<string, string>> => {
      const read = keyValueList(value, kind);
      if (typeof read === 'object') return read;
      context.addIssue({
        code: 'custom',
        message: `entry ${read} must read key=value, percent-encoded where it has other characters than ASCII letters, digits and ordinary punctuation`,
      });
      return z.NEVER;
    });

const list = z
  .string()
  .transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter(Boolean),
  )
  .default([]);

/** Exceptions to the addresses that are refused by default. */
const egressAllowance = list.transform((entries, context) => {
  const allowance = parseAllowance(entries);
  if (allowance) return allowance;
  context.addIssue({
    code: 'custom',
    message:
      'must be IP addresses, ranges of them (10.0.0.0/8, fd00::/8) or host names, separated by commas',
  });
  return z.NEVER;
});

const url = (...protocols: string[]) =>
  z
    .string()
    .refine(
      (value) => URL.canParse(value) && protocols.includes(new URL(value).protocol),
      `must be a URL that starts with ${protocols.map((p) => `${p}//`).join(' or ')}`,
    );

/** Sent in a header; secrets in files often end with a line feed. */
const apiKey = z
  .string()
  .trim()
  .regex(/^[!-~]+$/, 'must be one line of ASCII characters without spaces');

/** Without a trailing slash, so that paths can be appended. */
const publicUrl = url('https:', 'http:')
  .refine(
    (value) => !URL.canParse(value) || !/[?#]/.test(value),
    'must have neither a query nor a fragment',
  )
  .transform((value) => value.replace(/\/+$/, ''));

/** `true` is one. */
const proxyCount = z
  .string()
  .toLowerCase()
  .regex(/^(true|false|\d)$/, 'must be true, false, or the number of proxies')
  .transform((value) => (value === 'false' ? 0 : value === 'true' ? 1 : Number(value)))
  .default(0);

/**
 * How definitions of a server are offered. auto: harmless changes at once, a change with a finding after approval. pinned:
 * every change after approval. review: the first definitions too. locked: nothing new or changed, and nothing is approved.
 */
export const trustLevels = ['auto', 'pinned', 'review', 'locked'] as const;
export type Trust = (typeof trustLevels)[number];

export interface ConfiguredToken {
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /**
   * SHA-256 of the token in hex; the token itself is not stored. Tokens are long random strings, so a fast hash is
   * enough; slow ones are for passwords.
   */
  readonly hash: string;
}

/** Actors of the audit log that are not tokens. */
const RESERVED_NAMES = ['system', 'anonymous'];

/** `name:scope+scope:token` or `name:role:token`, separated by commas. Messages identify the entry by position: its text may be a secret. */
const tokens = z.string().transform((value, context): ConfiguredToken[] => {
  const entries = value
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  const parsed = entries.map((entry, index): ConfiguredToken | undefined => {
    const match = /^([A-Za-z0-9_.@-]{1,100}):([a-z+]+):(.+)$/.exec(entry);
    const scopes = parseScopes(match?.[2] ?? '');
    const secret = match?.[3] ?? '';
    const hash = tokenHash(secret);
    if (!match?.[1] || !scopes || !hash) {
      context.addIssue({
        code: 'custom',
        message: `entry ${index + 1} must read name:scopes:token, with scopes out of ${tokenScopes.join('+')} or one of the roles ${roles.join(', ')}, and a token of at least 16 ASCII characters without spaces (or sha256:<64 hex digits>)`,
      });
      return undefined;
    }
    if (RESERVED_NAMES.includes(match[1].toLowerCase())) {
      context.addIssue({ code: 'custom', message: `entry ${index + 1} has a reserved name` });
    }
    return { name: match[1], scopes, hash };
  });
  const usable = parsed.filter((entry) => entry !== undefined);
  for (const field of ['name', 'hash'] as const) {
    if (new Set(usable.map((entry) => entry[field])).size !== usable.length) {
      const what = field === 'name' ? 'name' : 'token';
      context.addIssue({ code: 'custom', message: `two entries have the same ${what}` });
    }
  }
  return usable;
});

function tokenHash(secret: string): string | undefined {
  if (secret.startsWith('sha256:')) {
    return /^sha256:([0-9a-f]{64})$/i.exec(secret)?.[1]?.toLowerCase();
  }
  // Other characters are not allowed in an HTTP header.
  if (!/^[\x21-\x7e]{16,}$/.test(secret)) return undefined;
  return createHash('sha256').update(secret).digest('hex');
}

export interface RoleRule {
  /** Of a claim with roles or groups; `*` for everyone who may log in. */
  readonly given: string;
  readonly role: Role;
}

/** `value=role`, separated by commas. The last `=` counts: names of groups may have one. */
const roleRules = list.transform((entries, context): readonly RoleRule[] =>
  entries.flatMap((entry, index): readonly RoleRule[] => {
    const [, given, name] = /^(.+)=(\w+)$/.exec(entry) ?? [];
    const role = roles.find((one) => one === name);
    if (given !== undefined && role !== undefined) return [{ given, role }];
    context.addIssue({
      code: 'custom',
      message: `entry ${index + 1} must read value=role: a role or group of the identity provider, or * for everyone, and one of ${roles.join(', ')}`,
    });
    return [];
  }),
);

const domains = list.refine(
  (names) => names.every((name) => /^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(name)),
  'must be domains such as example.com, separated by commas',
);

/** JSON is what this service writes; collectors accept it where they accept protobuf over HTTP. */
const otlpProtocol = z
  .literal('http/json', {
    error:
      'must be http/json: spans are sent as JSON over HTTP, which collectors accept on port 4318',
  })
  .default('http/json');

export const envSchema = z.object({
  MCP_AGGREGATOR_ENABLED: flag(true),
  MCP_AGGREGATOR_CONSOLE: flag(true),
  MCP_AGGREGATOR_HOST: z.string().min(1).default('127.0.0.1'),
  MCP_AGGREGATOR_PORT: whole(8081, 0, 65_535),
  MCP_AGGREGATOR_PUBLIC_URL: publicUrl.optional(),
  MCP_AGGREGATOR_REPLICA_URL: url('http:', 'https:')
    .transform((value) => new URL(value).origin)
    .optional(),
  MCP_AGGREGATOR_DATA_DIR: z.string().min(1).default('./data'),
  MCP_AGGREGATOR_CONFIG: z.string().min(1).optional(),

  MCP_AGGREGATOR_TRUST: z.enum(trustLevels).default('auto'),
  MCP_AGGREGATOR_MAX_SERVERS: whole(50, 1, 10_000),
  MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER: whole(1_000, 1, 1_000_000),
  MCP_AGGREGATOR_MAX_TOOLS: whole(10_000, 1, 1_000_000),
  MCP_AGGREGATOR_MAX_OFFERED_BYTES: whole(67_108_864, 1_024, 10_000_000_000),
  MCP_AGGREGATOR_CONNECTION_TIMEOUT: seconds(30, 3_600),
  MCP_AGGREGATOR_REQUEST_TIMEOUT: seconds(60, 86_400),
  MCP_AGGREGATOR_STDIO_PER_REPLICA: flag(false),
  MCP_AGGREGATOR_PERSON_SESSIONS: whole(1_000, 1, 1_000_000),
  MCP_AGGREGATOR_PERSON_SESSIONS_PER_SERVER: whole(100, 1, 1_000_000),
  MCP_AGGREGATOR_PERSON_SESSION_IDLE: seconds(300, 86_400),
  MCP_AGGREGATOR_SERVER_CONCURRENCY: whole(256, 1, 100_000),
  MCP_AGGREGATOR_SERVER_QUEUE: whole(1_024, 0, 1_000_000),
  MCP_AGGREGATOR_SESSION_TTL: seconds(1_800, 2_592_000),
  MCP_AGGREGATOR_MAX_SESSIONS: whole(10_000, 1, 1_000_000),
  MCP_AGGREGATOR_HEALTH_INTERVAL: seconds(30, 86_400),
  MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: flag(false),
  MCP_AGGREGATOR_EGRESS: z.enum(['local', 'public']).default('local'),
  MCP_AGGREGATOR_EGRESS_ALLOW: egressAllowance,
  MCP_AGGREGATOR_OAUTH_CLIENT_METADATA_URL: url('https:')
    .refine(
      (value) => !URL.canParse(value) || new URL(value).pathname !== '/',
      'must have a path: it names a document',
    )
    .optional(),
  MCP_AGGREGATOR_MAX_ANSWER_BYTES: whole(10_000_000, 1_024, 1_000_000_000),
  MCP_AGGREGATOR_MAX_RECEIVING_BYTES: whole(512_000_000, 1_048_576, 1_000_000_000_000),
  MCP_AGGREGATOR_MAX_LIST_BYTES: whole(32_000_000, 65_536, 1_000_000_000),

  MCP_AGGREGATOR_SEARCH_LEARNING: flag(true),

  MCP_AGGREGATOR_RESULT_BUDGET_TOKENS: whole(0, 0, 100_000_000),
  MCP_AGGREGATOR_RESULT_TTL: seconds(3_600, 604_800),
  MCP_AGGREGATOR_KEPT_RESULT_BYTES: whole(268_435_456, 1_048_576, 1_000_000_000_000),

  MCP_AGGREGATOR_QUERY_SERVER_TIMEOUT: seconds(3, 600),
  MCP_AGGREGATOR_QUERY_TIMEOUT: seconds(5, 600),
  MCP_AGGREGATOR_QUERY_TOOLS_PER_SERVER: whole(1, 1, 10),
  MCP_AGGREGATOR_QUERY_MAX_TOKENS: whole(6_000, 100, 1_000_000),
  MCP_AGGREGATOR_QUERY_PLANNER: flag(true),

  MCP_AGGREGATOR_TOKENS: tokens.optional(),
  MCP_AGGREGATOR_OAUTH: z.enum(['auto', 'on', 'off']).default('auto'),
  MCP_AGGREGATOR_OAUTH_CLIENT_DOCUMENTS: flag(true),
  MCP_AGGREGATOR_JWKS_URL: url('https:', 'http:').optional(),
  MCP_AGGREGATOR_JWT_ISSUER: z.string().min(1).optional(),
  MCP_AGGREGATOR_JWT_AUDIENCE: z.string().min(1).optional(),
  MCP_AGGREGATOR_JWT_GROUPS_CLAIM: z.string().min(1).default('groups'),
  MCP_AGGREGATOR_JWT_ROLES_CLAIM: z.string().min(1).optional(),
  MCP_AGGREGATOR_LOGIN_ISSUER: url('https:', 'http:')
    .refine((value) => value.length <= 500, 'must have at most 500 characters')
    .refine((value) => !/[?#]/.test(value), 'must have neither a query nor a fragment')
    .optional(),
  MCP_AGGREGATOR_LOGIN_CLIENT_ID: z.string().min(1).max(500).optional(),
  MCP_AGGREGATOR_LOGIN_CLIENT_SECRET: z.string().min(1).optional(),
  MCP_AGGREGATOR_LOGIN_SCOPES: z
    .string()
    .refine((value) => value.split(' ').includes('openid'), 'must have the scope openid')
    .default('openid profile email'),
  MCP_AGGREGATOR_LOGIN_ROLES: roleRules,
  MCP_AGGREGATOR_LOGIN_DOMAINS: domains,
  MCP_AGGREGATOR_LOGIN_DAYS: whole(30, 1, 365),
  MCP_AGGREGATOR_ALLOWED_HOSTS: list,
  MCP_AGGREGATOR_ALLOWED_ORIGINS: list,
  MCP_AGGREGATOR_TRUST_PROXY: proxyCount,
  MCP_AGGREGATOR_BODY_LIMIT: whole(4_194_304, 1_024, 1_073_741_824),
  MCP_AGGREGATOR_UNSENT_BYTES: whole(268_435_456, 1_048_576, 1_000_000_000_000),
  MCP_AGGREGATOR_WRITE_TIMEOUT: seconds(30, 3_600),
  MCP_AGGREGATOR_SHUTDOWN_DELAY: z
    .string()
    .regex(/^\d+(\.\d+)?$/, 'must be a number of seconds')
    .transform(Number)
    .pipe(z.number().max(3_600, 'must be at most 3600'))
    .optional(),
  MCP_AGGREGATOR_SHUTDOWN_GRACE: seconds(5, 3_600),
  MCP_AGGREGATOR_MAX_CONNECTIONS: whole(10_000, 10, 1_000_000),
  MCP_AGGREGATOR_RATE_LIMIT: whole(60_000, 0, 1_000_000_000),
  MCP_AGGREGATOR_AUDIT_RETENTION_DAYS: whole(90, 0, 36_500),
  MCP_AGGREGATOR_CALL_DAYS_RETENTION: whole(90, 0, 36_500),
  MCP_AGGREGATOR_AUDIT_MAX_CALLS: whole(1_000_000, 0, 1_000_000_000),

  OTEL_SDK_DISABLED: flag(false),
  OTEL_TRACES_EXPORTER: z.enum(['otlp', 'none']).default('otlp'),
  OTEL_EXPORTER_OTLP_ENDPOINT: url('https:', 'http:').optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url('https:', 'http:').optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs('headers'),
  OTEL_EXPORTER_OTLP_TRACES_HEADERS: pairs('headers'),
  OTEL_EXPORTER_OTLP_TIMEOUT: milliseconds(10_000),
  OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: milliseconds(10_000).optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol,
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol,
  OTEL_EXPORTER_OTLP_COMPRESSION: z.enum(['none', 'gzip']).default('none'),
  OTEL_SERVICE_NAME: z.string().max(255, 'must have at most 255 characters').optional(),
  OTEL_RESOURCE_ATTRIBUTES: pairs('attributes'),
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(0(\.\d+)?|1(\.0+)?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds(5_000),
  OTEL_BSP_MAX_QUEUE_SIZE: whole(2_048, 1, 100_000),
  OTEL_BSP_MAX_EXPORT_BATCH_SIZE: whole(512, 1, 10_000),
  MCP_AGGREGATOR_TRACE_SLOW: seconds(1, 3_600),

  MCP_AGGREGATOR_LOG_LEVEL: z
    .enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace'])
    .default('info'),
  MCP_AGGREGATOR_LOG_FORMAT: z.enum(['auto', 'pretty', 'json']).default('auto'),

  MCP_CREDENTIAL_KEY: z.string().min(16, 'must have at least 16 characters').optional(),
  MCP_CREDENTIAL_KEY_PREVIOUS: z.string().min(16, 'must have at least 16 characters').optional(),
  DATABASE_URL: url('postgres:', 'postgresql:').optional(),
  DATABASE_DIRECT_URL: url('postgres:', 'postgresql:').optional(),
  MCP_AGGREGATOR_DATABASE_WAIT: seconds(2, 3_600),
  MCP_AGGREGATOR_DATABASE_TIMEOUT: seconds(10, 3_600),
  MCP_AGGREGATOR_DATABASE_CONNECTIONS: whole(14, 5, 1_000),

  EMBEDDINGS_URL: url('https:', 'http:').optional(),
  EMBEDDINGS_API_KEY: apiKey.optional(),
  EMBEDDINGS_MODEL: z.string().min(1).default('text-embedding-3-small'),
  EMBEDDINGS_LOCAL_MODEL: z.enum(['static', 'minilm']).default('static'),
  QDRANT_URL: url('https:', 'http:').optional(),
  QDRANT_API_KEY: apiKey.optional(),
  MCP_AGGREGATOR_FAIL_POINT: z.string().regex(failPointPattern).optional(),

  LLM_PROVIDER: z.enum(['anthropic', 'openai']).optional(),
  LLM_URL: url('https:', 'http:').optional(),
  LLM_API_KEY: apiKey.optional(),
  LLM_MODEL: z.string().min(1).optional(),
});

interface Rule {
  readonly setting: keyof Settings;
  readonly message: string;
  /** The settings that the rule reads; it is skipped when one of them is invalid. */
  readonly about: readonly (keyof Settings)[];
  readonly isBroken: (env: Settings) => boolean;
}

/** The smallest budget of the result of a call. */
export const MIN_RESULT_TOKENS = 1_000;

const oauthRules: readonly Rule[] = [
  {
    setting: 'MCP_AGGREGATOR_OAUTH',
    message:
      'needs MCP_AGGREGATOR_PUBLIC_URL: clients get their tokens at that address, such as http://127.0.0.1:8081 on a laptop',
    about: ['MCP_AGGREGATOR_OAUTH', 'MCP_AGGREGATOR_PUBLIC_URL'],
    isBroken: (env) => env.MCP_AGGREGATOR_OAUTH === 'on' && !env.MCP_AGGREGATOR_PUBLIC_URL,
  },
  {
    setting: 'MCP_AGGREGATOR_OAUTH',
    message:
      'needs an MCP_AGGREGATOR_PUBLIC_URL without a path, because clients look for the authorization server at the root of a host',
    about: ['MCP_AGGREGATOR_OAUTH', 'MCP_AGGREGATOR_PUBLIC_URL'],
    isBroken: ({ MCP_AGGREGATOR_OAUTH: mode, MCP_AGGREGATOR_PUBLIC_URL: address }) =>
      mode === 'on' && address !== undefined && new URL(address).pathname !== '/',
  },
  {
    setting: 'MCP_AGGREGATOR_OAUTH',
    message:
      'needs an MCP_AGGREGATOR_PUBLIC_URL that starts with https:// (codes and tokens could be read in transit), unless it is loopback or MCP_AGGREGATOR_ALLOW_INSECURE_HTTP=true',
    about: [
      'MCP_AGGREGATOR_OAUTH',
      'MCP_AGGREGATOR_PUBLIC_URL',
      'MCP_AGGREGATOR_ALLOW_INSECURE_HTTP',
    ],
    isBroken: (env) => env.MCP_AGGREGATOR_OAUTH === 'on' && hasInsecurePublicUrl(env),
  },
  {
    setting: 'MCP_AGGREGATOR_OAUTH',
    message:
      'must be off (or unset) with MCP_AGGREGATOR_JWKS_URL: tokens come either from this service or from the identity provider',
    about: ['MCP_AGGREGATOR_OAUTH', 'MCP_AGGREGATOR_JWKS_URL'],
    isBroken: (env) =>
      env.MCP_AGGREGATOR_OAUTH === 'on' && env.MCP_AGGREGATOR_JWKS_URL !== undefined,
  },
  {
    setting: 'MCP_AGGREGATOR_OAUTH',
    message:
      'must be off (or unset) with MCP_AGGREGATOR_CONSOLE=false: people log in with sessions of the console',
    about: ['MCP_AGGREGATOR_OAUTH', 'MCP_AGGREGATOR_CONSOLE'],
    isBroken: (env) => env.MCP_AGGREGATOR_OAUTH === 'on' && !env.MCP_AGGREGATOR_CONSOLE,
  },
];

const loginRules: readonly Rule[] = [
  ...(
    [
      ['MCP_AGGREGATOR_LOGIN_CLIENT_ID', 'the id of this service at the identity provider'],
      ['MCP_AGGREGATOR_PUBLIC_URL', 'the identity provider sends browsers back to it'],
    ] as const
  ).map(([setting, why]): Rule => ({
    setting,
    message: `is required with MCP_AGGREGATOR_LOGIN_ISSUER: ${why}`,
    about: [setting, 'MCP_AGGREGATOR_LOGIN_ISSUER'],
    isBroken: (env) => env.MCP_AGGREGATOR_LOGIN_ISSUER !== undefined && !env[setting],
  })),
  {
    setting: 'MCP_AGGREGATOR_LOGIN_ISSUER',
    message: 'must be unset with MCP_AGGREGATOR_CONSOLE=false: logins are sessions of the console',
    about: ['MCP_AGGREGATOR_LOGIN_ISSUER', 'MCP_AGGREGATOR_CONSOLE'],
    isBroken: (env) => env.MCP_AGGREGATOR_LOGIN_ISSUER !== undefined && !env.MCP_AGGREGATOR_CONSOLE,
  },
  {
    setting: 'MCP_AGGREGATOR_LOGIN_ISSUER',
    message:
      'must start with https:// (an attacker could answer in its place and log in as anyone), unless it is loopback or MCP_AGGREGATOR_ALLOW_INSECURE_HTTP=true',
    about: ['MCP_AGGREGATOR_LOGIN_ISSUER', 'MCP_AGGREGATOR_ALLOW_INSECURE_HTTP'],
    isBroken: ({
      MCP_AGGREGATOR_LOGIN_ISSUER: issuer,
      MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: insecure,
    }) =>
      issuer !== undefined &&
      new URL(issuer).protocol === 'http:' &&
      !isLoopbackHost(new URL(issuer).hostname) &&
      !insecure,
  },
  {
    setting: 'MCP_AGGREGATOR_LOGIN_ISSUER',
    message:
      'needs an MCP_AGGREGATOR_PUBLIC_URL that starts with https:// (logins could be read in transit), unless it is loopback or MCP_AGGREGATOR_ALLOW_INSECURE_HTTP=true',
    about: [
      'MCP_AGGREGATOR_LOGIN_ISSUER',
      'MCP_AGGREGATOR_PUBLIC_URL',
      'MCP_AGGREGATOR_ALLOW_INSECURE_HTTP',
    ],
    isBroken: (env) => env.MCP_AGGREGATOR_LOGIN_ISSUER !== undefined && hasInsecurePublicUrl(env),
  },
  {
    setting: 'MCP_AGGREGATOR_LOGIN_ISSUER',
    message:
      'names a host that this service does not connect to: MCP_AGGREGATOR_EGRESS_ALLOW has to name it',
    about: ['MCP_AGGREGATOR_LOGIN_ISSUER', 'MCP_AGGREGATOR_EGRESS', 'MCP_AGGREGATOR_EGRESS_ALLOW'],
    isBroken: (env) =>
      env.MCP_AGGREGATOR_LOGIN_ISSUER !== undefined &&
      hostProblem(new URL(env.MCP_AGGREGATOR_LOGIN_ISSUER).hostname, egressPolicy(env)) !==
        undefined,
  },
  {
    setting: 'MCP_AGGREGATOR_LOGIN_ISSUER',
    message:
      'must equal MCP_AGGREGATOR_JWT_ISSUER: people are named by their subject, which means nothing at another issuer',
    about: ['MCP_AGGREGATOR_LOGIN_ISSUER', 'MCP_AGGREGATOR_JWT_ISSUER'],
    isBroken: ({ MCP_AGGREGATOR_LOGIN_ISSUER: login, MCP_AGGREGATOR_JWT_ISSUER: jwt }) =>
      login !== undefined && jwt !== undefined && login !== jwt,
  },
];

function hasInsecurePublicUrl({
  MCP_AGGREGATOR_PUBLIC_URL: address,
  MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: insecure,
}: Settings): boolean {
  if (address === undefined || insecure) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'http:' && !isLoopbackHost(hostname);
}

/** Rules over more than one setting; each message says what to change. */
const rules: readonly Rule[] = [
  {
    setting: 'MCP_CREDENTIAL_KEY',
    message:
      'is required with DATABASE_URL: a key kept in the data folder would be lost with this machine, and the credentials in the shared database with it. Make one with `openssl rand -base64 32`',
    about: ['MCP_CREDENTIAL_KEY', 'DATABASE_URL'],
    isBroken: (env) => env.DATABASE_URL !== undefined && !env.MCP_CREDENTIAL_KEY,
  },
  {
    setting: 'EMBEDDINGS_LOCAL_MODEL',
    message: 'must be static (or unset) with EMBEDDINGS_URL, which takes its place',
    about: ['EMBEDDINGS_LOCAL_MODEL', 'EMBEDDINGS_URL'],
    isBroken: (env) => env.EMBEDDINGS_URL !== undefined && env.EMBEDDINGS_LOCAL_MODEL !== 'static',
  },
  {
    setting: 'MCP_AGGREGATOR_UNSENT_BYTES',
    message:
      'must be at least four times MCP_AGGREGATOR_MAX_ANSWER_BYTES, or one large answer could not be delivered beside another',
    about: ['MCP_AGGREGATOR_UNSENT_BYTES', 'MCP_AGGREGATOR_MAX_ANSWER_BYTES'],
    isBroken: (env) => env.MCP_AGGREGATOR_UNSENT_BYTES < 4 * env.MCP_AGGREGATOR_MAX_ANSWER_BYTES,
  },
  {
    setting: 'MCP_AGGREGATOR_RESULT_BUDGET_TOKENS',
    message: `must be 0, or at least ${MIN_RESULT_TOKENS}: the sentence that says what was left out needs as much`,
    about: ['MCP_AGGREGATOR_RESULT_BUDGET_TOKENS'],
    isBroken: ({ MCP_AGGREGATOR_RESULT_BUDGET_TOKENS: tokens }) =>
      tokens > 0 && tokens < MIN_RESULT_TOKENS,
  },
  {
    setting: 'LLM_MODEL',
    message: 'is required with LLM_PROVIDER: the name of the model to ask',
    about: ['LLM_PROVIDER', 'LLM_MODEL'],
    isBroken: (env) => env.LLM_PROVIDER !== undefined && !env.LLM_MODEL,
  },
  {
    setting: 'LLM_API_KEY',
    message: 'is required with LLM_PROVIDER, unless LLM_URL names an endpoint that needs none',
    about: ['LLM_PROVIDER', 'LLM_API_KEY', 'LLM_URL'],
    isBroken: (env) => env.LLM_PROVIDER !== undefined && !env.LLM_API_KEY && !env.LLM_URL,
  },
  ...(['MCP_AGGREGATOR_JWT_ISSUER', 'MCP_AGGREGATOR_JWT_AUDIENCE'] as const).map(
    (setting): Rule => ({
      setting,
      message: 'is required with MCP_AGGREGATOR_JWKS_URL',
      about: [setting, 'MCP_AGGREGATOR_JWKS_URL'],
      isBroken: (env) => env.MCP_AGGREGATOR_JWKS_URL !== undefined && !env[setting],
    }),
  ),
  {
    setting: 'MCP_AGGREGATOR_JWKS_URL',
    message:
      'must start with https:// (an attacker who replaces the keys in transit can sign in as anyone), unless MCP_AGGREGATOR_ALLOW_INSECURE_HTTP=true',
    about: ['MCP_AGGREGATOR_JWKS_URL', 'MCP_AGGREGATOR_ALLOW_INSECURE_HTTP'],
    isBroken: ({ MCP_AGGREGATOR_JWKS_URL: jwks, MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: insecure }) =>
      jwks !== undefined &&
      new URL(jwks).protocol === 'http:' &&
      !isLoopbackHost(new URL(jwks).hostname) &&
      !insecure,
  },
  {
    setting: 'MCP_AGGREGATOR_JWKS_URL',
    message:
      'names a host that this service does not connect to: MCP_AGGREGATOR_EGRESS_ALLOW has to name it',
    about: ['MCP_AGGREGATOR_JWKS_URL', 'MCP_AGGREGATOR_EGRESS', 'MCP_AGGREGATOR_EGRESS_ALLOW'],
    isBroken: (env) =>
      env.MCP_AGGREGATOR_JWKS_URL !== undefined &&
      hostProblem(new URL(env.MCP_AGGREGATOR_JWKS_URL).hostname, egressPolicy(env)) !== undefined,
  },
  ...oauthRules,
  ...loginRules,
  {
    setting: 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE',
    message: 'must be at most OTEL_BSP_MAX_QUEUE_SIZE',
    about: ['OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 'OTEL_BSP_MAX_QUEUE_SIZE'],
    isBroken: (env) => env.OTEL_BSP_MAX_EXPORT_BATCH_SIZE > env.OTEL_BSP_MAX_QUEUE_SIZE,
  },
  ...(['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const).map(
    (setting): Rule => ({
      setting,
      message:
        'names a host that this service does not connect to: MCP_AGGREGATOR_EGRESS_ALLOW has to name it',
      about: [setting, 'MCP_AGGREGATOR_EGRESS', 'MCP_AGGREGATOR_EGRESS_ALLOW'],
      isBroken: ({ [setting]: collector, ...env }) =>
        collector !== undefined &&
        hostProblem(new URL(collector).hostname, egressPolicy(env)) !== undefined,
    }),
  ),
  {
    setting: 'MCP_AGGREGATOR_HOST',
    message:
      'is reachable from other machines, so MCP_AGGREGATOR_TOKENS or MCP_AGGREGATOR_JWKS_URL must be set (or listen on 127.0.0.1)',
    about: ['MCP_AGGREGATOR_HOST', 'MCP_AGGREGATOR_TOKENS', 'MCP_AGGREGATOR_JWKS_URL'],
    isBroken: (env) =>
      !isLoopbackHost(env.MCP_AGGREGATOR_HOST) &&
      !env.MCP_AGGREGATOR_TOKENS?.length &&
      !env.MCP_AGGREGATOR_JWKS_URL,
  },
];

/**
 * The issuer of the tokens that this service gives to OAuth clients, which is its public address; undefined if it gives
 * none. Without a decision it does where nothing else is missing: an https address of a whole host, and no identity
 * provider.
 */
export function oauthIssuer({
  MCP_AGGREGATOR_OAUTH: mode,
  MCP_AGGREGATOR_PUBLIC_URL: address,
  MCP_AGGREGATOR_JWKS_URL: jwks,
  MCP_AGGREGATOR_CONSOLE: console,
}: Pick<
  Settings,
  | 'MCP_AGGREGATOR_OAUTH'
  | 'MCP_AGGREGATOR_PUBLIC_URL'
  | 'MCP_AGGREGATOR_JWKS_URL'
  | 'MCP_AGGREGATOR_CONSOLE'
>): string | undefined {
  if (mode === 'off' || address === undefined) return undefined;
  const { protocol, pathname } = new URL(address);
  const isUsual = protocol === 'https:' && pathname === '/' && !jwks && console;
  return mode === 'on' || isUsual ? address : undefined;
}

/** Of people with JWTs, and of those who log in at an identity provider; both are the same. */
export function peopleIssuer({
  MCP_AGGREGATOR_JWT_ISSUER: ofJwts,
  MCP_AGGREGATOR_LOGIN_ISSUER: ofLogins,
}: Pick<Settings, 'MCP_AGGREGATOR_JWT_ISSUER' | 'MCP_AGGREGATOR_LOGIN_ISSUER'>):
  string | undefined {
  return ofJwts ?? ofLogins;
}

/** A class so that it can be injected by type; its fields are the parsed settings. */
export class Env {
  constructor(settings: Settings) {
    Object.assign(this, settings);
  }
}
export interface Env extends Settings {}
export type Settings = z.infer<typeof envSchema>;

export class InvalidEnv extends Error {
  constructor(readonly problems: readonly string[]) {
    super(
      `The configuration has ${problems.length === 1 ? 'a problem' : `${problems.length} problems`}:\n${problems.map((p) => `  - ${p}`).join('\n')}`,
    );
  }
}

export interface SettingOrigins {
  /** Names that `.env` has given. */
  readonly inFile?: ReadonlySet<string>;
  /** Names that the command line has given. */
  readonly inCommand?: ReadonlySet<string>;
}

interface Given {
  readonly source: 'default' | 'environment' | 'file' | 'command';
  /** Undefined if it is not set. */
  readonly value: string | undefined;
}

/** What was given for the settings of a process; not part of them, so that nothing else depends on it. */
const givenFor = new WeakMap<Env, ReadonlyMap<string, Given>>();

export function sourceOf(env: Env, name: string): Given {
  return givenFor.get(env)?.get(name) ?? { source: 'default', value: undefined };
}

/** An empty value counts as unset, as in docker-compose. Values never appear in messages: they may be secrets. */
export function parseEnv(
  source: Readonly<Record<string, string | undefined>>,
  { inFile, inCommand }: SettingOrigins = {},
): Env {
  const given = Object.fromEntries(
    Object.keys(envSchema.shape)
      .map((key) => [key, source[key]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = envSchema.safeParse(given);
  const issues = parsed.error?.issues ?? [];
  const wrong = new Set(issues.map((issue) => issue.path[0]));
  const settings =
    parsed.data ??
    envSchema.parse(Object.fromEntries(Object.entries(given).filter(([key]) => !wrong.has(key))));
  const broken = rules.filter(
    (rule) => !rule.about.some((key) => wrong.has(key)) && rule.isBroken(settings),
  );
  const problems = [
    ...issues.map((issue) => `${issue.path.join('.')} ${issue.message}`),
    ...broken.map((rule) => `${rule.setting} ${rule.message}`),
  ];
  if (problems.length > 0) throw new InvalidEnv(problems);
  const env = new Env(settings);
  const origins = Object.entries(given).map(([name, value]): [string, Given] => {
    const place = inCommand?.has(name) ? 'command' : inFile?.has(name) ? 'file' : 'environment';
    return [name, { source: place, value }];
  });
  givenFor.set(env, new Map(origins));
  return env;
}

/** Names that resemble a setting but are none, probably typing errors: logged as a warning at start. */
export function unknownSettings(source: Readonly<Record<string, string | undefined>>): string[] {
  return Object.keys(source).filter(
    (key) => key.startsWith('MCP_AGGREGATOR_') && !(key in envSchema.shape),
  );
}

export function isLoopbackHost(host: string): boolean {
  return (
    host === 'localhost' || host === '::1' || host === '[::1]' || /^127(\.\d{1,3}){3}$/.test(host)
  );
}

/** The environment of this process; read nowhere else. */
export const processVariables: Readonly<Record<string, string | undefined>> = process.env;
