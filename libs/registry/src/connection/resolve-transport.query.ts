import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { Env, urlProblem, Variables } from '@app/platform';
import { type PersonalValues, resolveConfig, type ResolvedTransport } from './resolve-config.js';
import { longestFirst, secretsOf } from './redact.js';
import { type ConnectionConfig, urlRules, type UrlSettings } from './connection-config.js';
import { destinationOf } from './unmask.js';
import { valueOrDefault } from './placeholders.js';
import { ForbiddenUrl, UnsetVariable } from '../registry.errors.js';
import type { Server } from '../server.js';
import { ServerStore } from '../server.store.js';

/** A server with its resolved connection parameters. */
export interface ReachableServer {
  readonly server: Server;
  readonly transport: ResolvedTransport;
  /** To be redacted from everything the server sends. */
  readonly secrets: readonly string[];
  /** Who gets the values of a person; of the same read as the rest. */
  readonly destination: string;
}

/** Resolved connection parameters and the secrets to redact. Query right before connecting; store neither. */
export class ResolveTransport extends Query<ReachableServer> {
  constructor(
    readonly serverId: string,
    /** Of the person on whose behalf it is; undefined for the shared session. */
    readonly personal?: PersonalValues,
  ) {
    super();
  }
}

@QueryHandler(ResolveTransport)
export class ResolveTransportHandler implements IQueryHandler<ResolveTransport> {
  constructor(
    private readonly servers: ServerStore,
    private readonly variables: Variables,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ serverId, personal }: ResolveTransport): Promise<ReachableServer> {
    const { server, config } = await this.servers.getWithConfig(serverId);
    const transport = resolveTransport(server.name, config, this.variables, this.env, personal);
    return {
      server,
      transport,
      secrets: longestFirst([...secretsOf(transport), ...Object.values(personal ?? {})]),
      destination: destinationOf(config),
    };
  }
}

/** Throws UnsetVariable and ForbiddenUrl. */
export function resolveTransport(
  serverName: string,
  config: ConnectionConfig,
  variables: Pick<Variables, 'get'>,
  settings: UrlSettings,
  personal?: PersonalValues,
): ResolvedTransport {
  const valueOf = (name: string, fallback: string | undefined): string => {
    const value = valueOrDefault(variables.get(name), fallback);
    if (value === undefined) throw new UnsetVariable(name, serverName);
    return value;
  };
  const transport = resolveConfig(config, valueOf, personal);
  const problem =
    transport.kind === 'STDIO' ? undefined : urlProblem(transport.url, urlRules(settings));
  if (problem) throw new ForbiddenUrl(serverName, problem);
  return transport;
}
