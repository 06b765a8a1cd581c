import { type FieldIssue, hostProblem, InvalidInput, type Trust } from '@app/platform';
import {
  type ConfigRules,
  type ConnectionConfig,
  type TransportType,
} from '../connection/connection-config.js';
import { parseConnectionConfig } from '../connection/parse-config.js';
import { hasMask, maskLeftIn, type Unmasked } from '../connection/unmask.js';
import { credentialIssues } from '../credentials/personal-template.js';
import { type CredentialMode, MAX_SERVER_NAME, SERVER_NAME, type Server } from '../server.js';

export interface Registration {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly transportType: TransportType;
  /** Unparsed; the handler validates it. */
  readonly connectionConfig: unknown;
  readonly healthCheckUrl?: string | null | undefined;
  readonly autoConnect: boolean;
  /** Null or undefined: as the setting says. */
  readonly trust?: Trust | null | undefined;
  readonly credentials?: CredentialMode | undefined;
}

/**
 * Validates a registration (BR-001) and returns the new server or every issue found. Locations are those of the
 * request body.
 */
export function newServer(
  id: string,
  registration: Registration,
  now: Date,
  rules: ConfigRules,
): { server: Server; config: ConnectionConfig } {
  const parsed = readConfig(
    registration.transportType,
    { raw: registration.connectionConfig },
    rules,
  );
  const credentials = registration.credentials ?? 'shared';
  const issues = [
    ...nameIssues(registration.name),
    ...healthUrlIssues(registration.healthCheckUrl, rules),
    ...(parsed.issues ?? []),
    ...(parsed.config ? credentialIssues(credentials, parsed.config) : []),
  ];
  if (!parsed.config || issues.length > 0) throw new InvalidInput(issues);
  const server: Server = {
    id,
    name: registration.name,
    description: registration.description ?? null,
    transportType: registration.transportType,
    status: 'DISCONNECTED',
    wanted: registration.autoConnect,
    healthCheckUrl: registration.healthCheckUrl ?? null,
    protocolEra: null,
    asksCallers: false,
    trust: registration.trust ?? null,
    credentials,
    toolCount: 0,
    toolsReadAt: null,
    listFailures: {},
    warnings: [],
    errorMessage: null,
    lastHealthCheck: null,
    consecutiveFailures: 0,
    responseTimeMs: null,
    lastError: null,
    registeredAt: now,
    connectedAt: null,
    updatedAt: now,
    version: 1,
    connectionVersion: 1,
  };
  return { server, config: parsed.config };
}

export function readConfig(
  transport: ConnectionConfig['transport'],
  { raw, moved }: Unmasked,
  rules: ConfigRules,
): { config?: ConnectionConfig; issues?: FieldIssue[] } {
  const parsed = parseConnectionConfig(transport, raw, rules);
  const issues = parsed.config ? maskLeftIn(parsed.config, moved) : parsed.issues;
  if (parsed.config && issues.length === 0) return { config: parsed.config };
  return {
    issues: issues.map((one) => ({ ...one, loc: ['body', 'connection_config', ...one.loc] })),
  };
}

export function nameIssues(name: string): FieldIssue[] {
  if (name.length > MAX_SERVER_NAME) {
    return [
      {
        loc: ['body', 'name'],
        msg: `Must have at most ${MAX_SERVER_NAME} characters`,
        type: 'value_error',
      },
    ];
  }
  return SERVER_NAME.test(name)
    ? []
    : [
        {
          loc: ['body', 'name'],
          msg: 'Must start with a lowercase letter, followed by lowercase letters, digits, hyphens or underscores',
          type: 'value_error',
        },
      ];
}

export function healthUrlIssues(
  url: string | null | undefined,
  rules: Pick<ConfigRules, 'egress'>,
): FieldIssue[] {
  if (url === null || url === undefined) return [];
  const msg = healthUrlProblem(url, rules);
  return msg ? [{ loc: ['body', 'health_check_url'], msg, type: 'value_error' }] : [];
}

function healthUrlProblem(
  url: string,
  { egress }: Pick<ConfigRules, 'egress'>,
): string | undefined {
  if (!URL.canParse(url) || !['http:', 'https:'].includes(new URL(url).protocol)) {
    return 'Must be a URL that starts with http:// or https://';
  }
  if (hasMask(url)) return 'Holds the mask of a hidden value; send the value itself';
  return egress && hostProblem(new URL(url).hostname, egress);
}
