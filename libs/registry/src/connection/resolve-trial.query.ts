import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { AppError, Env, type FieldIssue, InvalidInput, Variables } from '@app/platform';
import { healthUrlIssues, nameIssues, readConfig } from '../register/new-server.js';
import { readPaste } from '../import/pasted-servers.js';
import type { Server } from '../server.js';
import { ServerStore } from '../server.store.js';
import {
  type ConfigRules,
  configRules,
  type ConnectionConfig,
  type TransportType,
} from './connection-config.js';
import { redact, secretsOf } from './redact.js';
import type { ResolvedTransport } from './resolve-config.js';
import { resolveTransport } from './resolve-transport.query.js';
import { isStoredUrl, unmask } from './unmask.js';

/** A configuration that is not saved: a new server, or a change of a registered one. */
export interface TrialConfig {
  /** Undefined for a new server. */
  readonly serverId?: string | undefined;
  readonly name?: string | undefined;
  /** As stored, if undefined. */
  readonly transportType?: TransportType | undefined;
  /** Unparsed; masked values mean "as stored", and so does undefined. */
  readonly connectionConfig?: unknown;
  readonly healthCheckUrl?: string | null | undefined;
  /** Instead of all others. */
  readonly pasted?: PastedEntry | undefined;
}

/** An entry of what a person has pasted, by its key. */
export interface PastedEntry {
  readonly text: string;
  readonly key: string;
  /** Put in the place of `${NAME}`. */
  readonly values: Readonly<Record<string, string>>;
}

export interface ResolvedTrial {
  readonly serverId: string | undefined;
  readonly name: string;
  /** An error: a variable is not set, or the URL is forbidden. */
  readonly transport: ResolvedTransport | AppError;
  /** To be redacted from everything the server sends. */
  readonly secrets: readonly string[];
  /** Removes the secrets from a message. */
  readonly redact: (text: string) => string;
}

/** What a connection to a configuration needs. Throws InvalidInput as registering and changing do. */
export class ResolveTrial extends Query<ResolvedTrial> {
  constructor(readonly given: TrialConfig) {
    super();
  }
}

interface Stored {
  readonly server: Server;
  readonly config: ConnectionConfig;
}

const UNNAMED = 'the server';

@QueryHandler(ResolveTrial)
export class ResolveTrialHandler implements IQueryHandler<ResolveTrial> {
  constructor(
    private readonly servers: ServerStore,
    private readonly variables: Variables,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute(query: ResolveTrial): Promise<ResolvedTrial> {
    const given = query.given.pasted ? fromPaste(query.given, query.given.pasted) : query.given;
    const { serverId } = given;
    const stored = serverId === undefined ? undefined : await this.servers.getWithConfig(serverId);
    const config = this.read(given, stored);
    const name = given.name ?? stored?.server.name ?? UNNAMED;
    const transport = this.resolve(name, config);
    const secrets = transport instanceof AppError ? [] : secretsOf(transport);
    return { serverId, name, transport, secrets, redact: (text) => redact(text, secrets) };
  }

  private read(given: TrialConfig, stored: Stored | undefined): ConnectionConfig {
    const rules = configRules(this.env, this.variables);
    const issues = issuesOf(given, stored, rules);
    const transport = given.transportType ?? stored?.server.transportType;
    const { connectionConfig } = given;
    if (connectionConfig === undefined && stored && issues.length === 0) return stored.config;
    if (connectionConfig === undefined || !transport) throw new InvalidInput(issues);
    const raw = stored ? unmask(connectionConfig, stored.config) : { raw: connectionConfig };
    const parsed = readConfig(transport, raw, rules);
    issues.push(...(parsed.issues ?? []));
    if (!parsed.config || issues.length > 0) throw new InvalidInput(issues);
    return parsed.config;
  }

  private resolve(name: string, config: ConnectionConfig): ResolvedTransport | AppError {
    try {
      return resolveTransport(name, config, this.variables, this.env);
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  }
}

/** Throws UnreadablePaste, and InvalidInput for an entry that cannot be registered. */
function fromPaste(given: TrialConfig, { text, key, values }: PastedEntry): TrialConfig {
  const { serverId, name, transportType, connectionConfig, healthCheckUrl } = given;
  const others = [serverId, name, transportType, connectionConfig, healthCheckUrl];
  if (others.some((other) => other !== undefined)) {
    throw new InvalidInput([invalid('pasted', 'Give either pasted or a configuration')]);
  }
  const { entries, skipped } = readPaste(text, values);
  const entry = entries.find((one) => one.key === key);
  if (entry) return entry.registration;
  const reason = skipped.find((one) => one.key === key)?.reason ?? 'No such entry was pasted';
  throw new InvalidInput([{ loc: ['body', 'pasted', 'key'], msg: reason, type: 'value_error' }]);
}

/** Of everything but the configuration itself. */
function issuesOf(
  { name, transportType, connectionConfig, healthCheckUrl }: TrialConfig,
  stored: Stored | undefined,
  rules: ConfigRules,
): FieldIssue[] {
  const isKept = isStoredUrl(healthCheckUrl, stored?.server.healthCheckUrl ?? null);
  const issues = [
    ...(name === undefined ? [] : nameIssues(name)),
    ...(isKept ? [] : healthUrlIssues(healthCheckUrl, rules)),
  ];
  if (!stored) {
    if (!transportType) issues.push(missing('transport_type'));
    if (connectionConfig === undefined) issues.push(missing('connection_config'));
  } else if (transportType && transportType !== stored.server.transportType) {
    issues.push(invalid('transport_type', 'The transport of a registered server does not change'));
  }
  return issues;
}

function missing(field: string): FieldIssue {
  return invalid(field, 'Field required: there is no stored value without server_id', 'missing');
}

function invalid(field: string, msg: string, type = 'value_error'): FieldIssue {
  return { loc: ['body', field], msg, type };
}
