import { Inject } from '@nestjs/common';
import { type IQueryHandler, Query, QueryHandler } from '@nestjs/cqrs';
import { Env, Variables } from '@app/platform';
import {
  resolveConfig,
  type ResolvedTransport,
  secretsOf,
  urlProblem,
} from './connection-config.js';
import { ForbiddenUrl, UnsetVariable } from './registry.errors.js';
import { ServerStore } from './server.store.js';

/** What opens a transport, and what of it must never be shown. Ask right before opening; keep neither. */
export class ResolveTransport extends Query<{
  transport: ResolvedTransport;
  secrets: readonly string[];
}> {
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

  async execute({
    serverId,
  }: ResolveTransport): Promise<{ transport: ResolvedTransport; secrets: readonly string[] }> {
    const [server, config] = await Promise.all([
      this.servers.get(serverId),
      this.servers.config(serverId),
    ]);
    const transport = resolveConfig(config, (name) => {
      const value = this.variables.get(name);
      if (value === undefined) throw new UnsetVariable(name, server.name);
      return value;
    });
    const problem =
      transport.kind === 'STDIO'
        ? undefined
        : urlProblem(transport.url, {
            allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
          });
    if (problem) throw new ForbiddenUrl(server.name, problem);
    return { transport, secrets: secretsOf(transport) };
  }
}
