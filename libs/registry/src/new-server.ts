import { type FieldIssue, InvalidInput } from '@app/platform';
import {
  type ConfigRules,
  type ConnectionConfig,
  type TransportType,
  maskLeftIn,
  parseConnectionConfig,
} from './connection-config.js';
import { MAX_SERVER_NAME, SERVER_NAME, type Server } from './server.js';

export interface Registration {
  readonly name: string;
  readonly description?: string | null | undefined;
  readonly transportType: TransportType;
  /** As it came: the handler reads it. */
  readonly connectionConfig: unknown;
  readonly healthCheckUrl?: string | null | undefined;
  readonly autoConnect: boolean;
}

/** The rules of BR-001: a new server out of a registration, or every issue it has. Locations are those of the request body. */
export function newServer(
  id: string,
  registration: Registration,
  now: Date,
  rules: ConfigRules,
): { server: Server; config: ConnectionConfig } {
  const parsed = readConfig(registration.transportType, registration.connectionConfig, rules);
  const issues = [
    ...nameIssues(registration.name),
    ...healthUrlIssues(registration.healthCheckUrl),
    ...(parsed.issues ?? []),
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
    toolCount: 0,
    warnings: [],
    errorMessage: null,
    lastHealthCheck: null,
    consecutiveFailures: 0,
    responseTimeMs: null,
    lastError: null,
    registeredAt: now,
    connectedAt: null,
    updatedAt: now,
  };
  return { server, config: parsed.config };
}

export function readConfig(
  transport: ConnectionConfig['transport'],
  raw: unknown,
  rules: ConfigRules,
): { config?: ConnectionConfig; issues?: FieldIssue[] } {
  const parsed = parseConnectionConfig(transport, raw, rules);
  const issues = parsed.config ? maskLeftIn(parsed.config) : parsed.issues;
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
          msg: 'Must start with a lowercase letter and go on with lowercase letters, digits, hyphens or underscores',
          type: 'value_error',
        },
      ];
}

export function healthUrlIssues(url: string | null | undefined): FieldIssue[] {
  if (url === null || url === undefined) return [];
  const fine = URL.canParse(url) && ['http:', 'https:'].includes(new URL(url).protocol);
  return fine
    ? []
    : [
        {
          loc: ['body', 'health_check_url'],
          msg: 'Must be a URL that starts with http:// or https://',
          type: 'value_error',
        },
      ];
}
