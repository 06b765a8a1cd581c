import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { type FieldIssue, hasMoreChars, hostProblem, isCleanText, urlProblem } from '@app/platform';
import {
  type ConfigRules,
  type ConnectionConfig,
  strings,
  type TransportType,
} from './connection-config.js';
import { exchangeSchema } from './exchange-settings.js';
import { oauthIssues, oauthSchema } from './oauth-settings.js';
import {
  hasNestedDefault,
  isVariableName,
  personalField,
  placeholdersIn,
  substitute,
} from './placeholders.js';
import { STEERING } from './steering.js';

const MAX_CONFIG_CHARS = 65_536;
const MAX_VALUE_CHARS = 32_768;
/** Headers that the transport sets itself; a configured one could break or smuggle requests. */
const TRANSPORT_HEADERS =
  /^(?:host|content-length|content-type|transfer-encoding|connection|upgrade|te|trailer|accept|mcp-.*)$/i;

const text = z
  .string()
  .refine(
    (value) => !hasMoreChars(value, MAX_VALUE_CHARS),
    `Must have at most ${MAX_VALUE_CHARS} characters`,
  )
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
  exchange: exchangeSchema(text).optional(),
};

const schemas = {
  STDIO: z.strictObject({
    command: text.refine((value) => value.trim() !== '', 'Must not be empty'),
    args: z.array(text).max(1_000).default([]),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'Is not a valid variable name'), text)
      .default({}),
    cwd: text
      .refine(
        (path) => isAbsolute(path) || path.startsWith('${'),
        'Must be an absolute path; leave it out for a folder of its own',
      )
      .optional(),
  }),
  SSE: z.strictObject(remote),
  HTTP: z.strictObject({
    base_url: remote.url,
    headers,
    oauth: remote.oauth,
    exchange: remote.exchange,
  }),
} as const;

const requiredField = { STDIO: 'command', SSE: 'url', HTTP: 'base_url' } as const;

export type ParsedConfig =
  | { readonly config: ConnectionConfig; readonly issues?: undefined }
  | { readonly config?: undefined; readonly issues: readonly FieldIssue[] };

/**
 * Parses a configuration from a request, a file or a decrypted row. Issue locations start at the configuration
 * itself.
 */
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
  if (hasMoreChars(JSON.stringify(raw), MAX_CONFIG_CHARS)) {
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

export function issue(loc: FieldIssue['loc'], msg: string, type = 'value_error'): FieldIssue {
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

function placeholderIssues(config: ConnectionConfig, rules: ConfigRules): FieldIssue[] {
  return [...strings(config)].flatMap(([loc, value]) => [
    ...(hasNestedDefault(value)
      ? [issue(loc, 'The default of a placeholder cannot hold another placeholder')]
      : []),
    ...placeholdersIn(value).flatMap((name) => {
      if (personalField(name) !== undefined) return personalIssues(loc);
      if (!isVariableName(name)) return [issue(loc, '${…} must hold the name of a variable')];
      return rules.mayReference(name)
        ? []
        : [issue(loc, `\${${name}} is a setting of this service and cannot be passed on`)];
    }),
  ]);
}

/** Programs, arguments and URLs are the same for everyone: a person must not choose what is run or connected to. */
function personalIssues(loc: readonly (string | number)[]): FieldIssue[] {
  const [place, name] = loc;
  if (place !== 'headers' && place !== 'env') {
    return [issue([...loc], '${user.…} can stand only in headers and env')];
  }
  const isSteering = place === 'env' && typeof name === 'string' && STEERING.test(name);
  return isSteering
    ? [issue([...loc], 'Says what is run or connected to, so no person may give it')]
    : [];
}

function urlIssues(config: ConnectionConfig, rules: ConfigRules): FieldIssue[] {
  if (config.transport === 'STDIO') return [];
  const [field, value] =
    config.transport === 'SSE' ? ['url', config.url] : ['base_url', config.base_url];
  const problem = urlProblem(
    substitute(value, () => 'placeholder'),
    rules,
  );
  const issuer = config.oauth?.issuer;
  const issuerProblem =
    issuer === undefined || !rules.egress || !URL.canParse(issuer)
      ? undefined
      : hostProblem(new URL(issuer).hostname, rules.egress);
  // With a placeholder as host, only the resolved URL can be checked.
  const undecided = /^https?:[\\/]*[^\\/?#]*\$\{/i.test(value) || value.startsWith('${');
  const exchangeProblem = config.exchange && urlProblem(config.exchange.token_url, rules);
  return [
    ...(problem && !undecided ? [issue([field], problem)] : []),
    ...(issuerProblem ? [issue(['oauth', 'issuer'], issuerProblem)] : []),
    ...(exchangeProblem ? [issue(['exchange', 'token_url'], exchangeProblem)] : []),
  ];
}
