import { Inject, Injectable, Logger } from '@nestjs/common';
import { CommandBus, QueryBus } from '@nestjs/cqrs';
import type { Person } from '@app/access';
import { type PersonAccess, ServerAuthorizations } from '@app/authorization';
import { ConnectFailed, connectUpstream, type UpstreamSession } from '@app/mcp-client';
import { DatabaseUnavailable, Egress, Env, product } from '@app/platform';
import {
  credentialsOf,
  Deployment,
  RememberEra,
  RememberQuestions,
  type ResolvedTransport,
  ResolveTransport,
  type Server,
} from '@app/registry';
import { ReplicaConnector } from '../pass/replica-connector.js';
import { StdioPlace } from '../pass/stdio-place.js';
import { homeIn, ServerFolders } from './server-folders.js';
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
  /** The STDIO servers among those that were connected here. */
  private readonly programs = new Set<string>();

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

  /** `access`: on behalf of one person, with credentials of that person alone. */
  async connect(
    serverId: string,
    request: ConnectRequest,
    access?: PersonAccess,
  ): Promise<UpstreamSession> {
    const { probe, signal } = request;
    const common = {
      receiving: this.budgets.receiving,
      listing: this.budgets.listing,
      clientInfo: product,
      clientCapabilities: CLIENT_CAPABILITIES,
      deploymentId: this.deployment.id,
      signal,
    };
    const atLeader = (): Promise<UpstreamSession | undefined> =>
      this.stdio.atLeader(signal, (leader) =>
        this.replicas.connect(leader, serverId, common, access?.person),
      );
    let found;
    try {
      found = await this.queries.execute(new ResolveTransport(serverId, access?.values));
    } catch (error) {
      return await this.withoutRow(serverId, error, atLeader);
    }
    const { server, transport, secrets, destination } = found;
    if (!server.wanted) throw new ConnectFailed('it was disconnected by request');
    request.onRead(server);
    await refuseIfMoved(destination, access);
    if (transport.kind === 'STDIO') {
      this.programs.add(serverId);
      const passed = await atLeader();
      if (passed) return passed;
    } else this.programs.delete(serverId);
    const tenure = transport.kind === 'STDIO' ? this.stdio.tenure() : undefined;
    const target = await this.placed(transport, serverId, access?.person);
    const authorizer = access
      ? await access.authorizerFor(transport)
      : await this.authorizations.authorizerFor(server, transport);
    const session = await connectUpstream(target, {
      ...common,
      connectTimeoutMs: this.env.MCP_AGGREGATOR_CONNECTION_TIMEOUT * 1_000,
      maxAnswerBytes: this.env.MCP_AGGREGATOR_MAX_ANSWER_BYTES,
      maxListBytes: this.env.MCP_AGGREGATOR_MAX_LIST_BYTES,
      allowInsecureHttp: this.env.MCP_AGGREGATOR_ALLOW_INSECURE_HTTP,
      egress: this.egress,
      secrets,
      credentials: credentialsOf(transport, Object.values(access?.values ?? {})),
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
    // Only the shared session writes rows of the server.
    if (!access) await this.rememberEra(server, session);
    return session;
  }

  /** A replica that has lost the database alone uses what runs at the leader, which refuses what has been disconnected. */
  private async withoutRow(
    serverId: string,
    error: unknown,
    atLeader: () => Promise<UpstreamSession | undefined>,
  ): Promise<UpstreamSession> {
    const isCutOff = error instanceof DatabaseUnavailable && this.programs.has(serverId);
    if (!isCutOff) this.programs.delete(serverId);
    const passed = isCutOff ? await atLeader() : undefined;
    if (!passed) throw error;
    return passed;
  }

  /** The process of a person has its own folder and home: others leave logins and caches in theirs. */
  private async placed(
    program: ResolvedTransport,
    serverId: string,
    person: Person | undefined,
  ): Promise<ResolvedTransport> {
    if (program.kind !== 'STDIO') return program;
    if (!person) return { ...program, cwd: program.cwd ?? (await this.folders.make(serverId)) };
    const cwd = await this.folders.make(serverId, person);
    return { ...program, cwd, env: { ...homeIn(cwd), ...program.env } };
  }

  /** Also when the server is found to be of another era later. */
  private async rememberEra(
    { id, protocolEra }: Pick<Server, 'id' | 'protocolEra'>,
    session: UpstreamSession,
  ): Promise<void> {
    let known = protocolEra;
    const remember = async (): Promise<void> => {
      if (session.era === known) return;
      known = session.era;
      await this.commands.execute(new RememberEra(id, session.era));
    };
    await remember();
    session.onRenewal(() => {
      // Without the row, the next connect finds out by itself.
      remember().catch((err: unknown) =>
        this.logger.warn({ err, server_id: id }, 'server.era_not_stored'),
      );
    });
  }
}

/** It may have moved since the credentials were read. Throws ConnectionRequired. */
async function refuseIfMoved(destination: string, access: PersonAccess | undefined): Promise<void> {
  if (access?.destination !== undefined && access.destination !== destination) {
    throw await access.moved();
  }
}
