import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { Env, urlProblem, Variables } from '@app/platform';
import { resolveConfig, type ResolvedTransport } from './resolve-config.js';
import { secretsOf } from './redact.js';
import { urlRules } from './connection-config.js';
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
}

/** Resolved connection parameters and the secrets to redact. Query right before connecting; store neither. */
export class ResolveTransport extends Query<ReachableServer> {
  constructor(readonly serverId: string) {
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

  async execute({ serverId }: ResolveTransport): Promise<ReachableServer> {
    const { server, config } = await this.servers.getWithConfig(serverId);
    const transport = resolveConfig(config, (name, fallback) => {
      const value = valueOrDefault(this.variables.get(name), fallback);
      if (value === undefined) throw new UnsetVariable(name, server.name);
      return value;
    });
    const problem =
      transport.kind === 'STDIO' ? undefined : urlProblem(transport.url, urlRules(this.env));
    if (problem) throw new ForbiddenUrl(server.name, problem);
    return { server, transport, secrets: secretsOf(transport) };
  }
}
