import { Inject, Injectable } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { connectUpstream, type UpstreamSession } from '@app/mcp';
import { Env, type JsonObject } from '@app/platform';
import { GetServer, RememberEra, ResolveTransport } from '@app/registry';
import { ServerAuthorizations } from './server-authorizations.js';

const CLIENT_INFO = { name: 'switchboard', version: '0.1.0' };
/** What MCP clients behind us may be able to do; whether one is there is found out when a server asks. */
const CLIENT_CAPABILITIES: JsonObject = {
  sampling: {},
  elicitation: { form: {}, url: {} },
  roots: { listChanged: true },
};

export interface ConnectRequest {
  /** Find out the protocol era anew instead of trusting the remembered one. */
  readonly probe: boolean;
  readonly signal: AbortSignal;
  onLogLine(line: string): void;
}

/** From a server's id to an open session. */
@Injectable()
export class UpstreamConnector {
  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
    private readonly authorizations: ServerAuthorizations,
    @Inject(Env) private readonly env: Env,
  ) {}

  async connect(serverId: string, request: ConnectRequest): Promise<UpstreamSession> {
    const { probe, signal } = request;
    const [server, { transport, secrets }] = await Promise.all([
      this.queries.execute(new GetServer(serverId)),
      this.queries.execute(new ResolveTransport(serverId)),
    ]);
    const authorizer = await this.authorizations.authorizerFor(server, transport);
    const session = await connectUpstream(transport, {
      connectTimeoutMs: this.env.MCP_AGGREGATOR_CONNECTION_TIMEOUT * 1_000,
      maxAnswerBytes: this.env.MCP_AGGREGATOR_MAX_ANSWER_BYTES,
      clientInfo: CLIENT_INFO,
      clientCapabilities: CLIENT_CAPABILITIES,
      allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
      secrets,
      ...(authorizer && { authorizer }),
      signal,
      onLogLine: (line) => request.onLogLine(line),
      ...(!probe && server.protocolEra && { priorEra: server.protocolEra }),
    });
    if (session.era !== server.protocolEra) {
      await this.commands.execute(new RememberEra(serverId, session.era));
    }
    return session;
  }
}
