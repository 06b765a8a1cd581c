import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import { ServerAuthorizations } from '@app/authorization';
import { ConnectFailed, connectUpstream, type UpstreamSession } from '@app/mcp-client';
import { Egress, Env, product } from '@app/platform';
import {
  credentialsOf,
  Deployment,
  RememberEra,
  RememberQuestions,
  ResolveTransport,
  type Server,
} from '@app/registry';
import { ReplicaConnector } from '../pass/replica-connector.js';
import { StdioPlace } from '../pass/stdio-place.js';
import { ServerFolders } from './server-folders.js';
import { CLIENT_CAPABILITIES, UpstreamBudgets } from './upstream-budgets.js';

export interface ConnectRequest {
  /** Detect the protocol era again instead of using the stored one. */
  readonly probe: boolean;
  readonly signal: AbortSignal;
  onLogLine(line: string): void;
  /** Called with the row that the configuration is from, before the connect. */
  onRead(server: Server): void;
}

/** Opens a session to a registered server. */
@Injectable()
export class UpstreamConnector {
  private readonly logger = new Logger(UpstreamConnector.name);

  constructor(
    private readonly queries: QueryBus,
    private readonly commands: CommandBus,
    private readonly authorizations: ServerAuthorizations,
    private readonly deployment: Deployment,
    @Inject(Env) private readonly env: Env,
    private readonly egress: Egress,
    private readonly folders: ServerFolders,
    private readonly stdio: StdioPlace,
    private readonly replicas: ReplicaConnector,
    private readonly budgets: UpstreamBudgets,
  ) {}

  async connect(serverId: string, request: ConnectRequest): Promise<UpstreamSession> {
    const { probe, signal } = request;
    const { server, transport, secrets } = await this.queries.execute(
      new ResolveTransport(serverId),
    );
    if (!server.wanted) throw new ConnectFailed('it was disconnected by request');
    request.onRead(server);
    const common = {
      receiving: this.budgets.receiving,
      listing: this.budgets.listing,
      clientInfo: product,
      clientCapabilities: CLIENT_CAPABILITIES,
      deploymentId: this.deployment.id,
      signal,
    };
    if (transport.kind === 'STDIO') {
      const passed = await this.stdio.atLeader(signal, (leader) =>
        this.replicas.connect(leader, serverId, common),
      );
      if (passed) return passed;
    }
    const tenure = transport.kind === 'STDIO' ? this.stdio.tenure() : undefined;
    const target =
      transport.kind === 'STDIO'
        ? { ...transport, cwd: transport.cwd ?? (await this.folders.make(serverId)) }
        : transport;
    const authorizer = await this.authorizations.authorizerFor(server, transport);
    const session = await connectUpstream(target, {
      ...common,
      connectTimeoutMs: this.env.MCP_AGGREGATOR_CONNECTION_TIMEOUT * 1_000,
      maxAnswerBytes: this.env.MCP_AGGREGATOR_MAX_ANSWER_BYTES,
      maxListBytes: this.env.MCP_AGGREGATOR_MAX_LIST_BYTES,
      allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
      egress: this.egress,
      secrets,
      credentials: credentialsOf(transport),
      ...(authorizer && { authorizer }),
      tenure,
      signal: tenure ? AbortSignal.any([signal, tenure.ended]) : signal,
      asksCallers: server.asksCallers,
      onCallersAsked: () => {
        this.commands.execute(new RememberQuestions(serverId)).catch((err: unknown) => {
          this.logger.warn({ err, server_id: serverId }, 'server.questions_not_stored');
        });
      },
      onLogLine: (line) => request.onLogLine(line),
      ...(!probe && server.protocolEra && { priorEra: server.protocolEra }),
    });
    let { protocolEra } = server;
    const remember = async (): Promise<void> => {
      if (session.era === protocolEra) return;
      protocolEra = session.era;
      await this.commands.execute(new RememberEra(serverId, session.era));
    };
    await remember();
    session.onRenewal(() => {
      // Without the row, the next connect finds out by itself.
      remember().catch((err: unknown) =>
        this.logger.warn({ err, server_id: serverId }, 'server.era_not_stored'),
      );
    });
    return session;
  }
}
