import { Inject, Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, type ICommandHandler, QueryBus } from '@nestjs/cqrs';
import { Catalogue } from '@app/catalogue';
import { ToolQuarantined, ToolsDiscovered } from '@app/events';
import {
  AppError,
  Clock,
  CoalescedRuns,
  Env,
  FailPoints,
  inSlices,
  type JsonObject,
  Signals,
  Tracing,
} from '@app/platform';
import { DiscoveredServerStore, GetServer, ServerNotFound, SetListFailure } from '@app/registry';
import { SessionPool } from '@app/sessions';
import { RequestTimedOut, UpstreamHttpError, type UpstreamSession } from '@app/mcp-client';
import { UpstreamRpcError } from '@app/mcp-protocol';
import { DiscoveryProgress } from './discovery-progress.js';
import { DiscoveryRetries } from './discovery-retries.js';
import { readTools, type ToolRemark } from './tool.js';
import { type Published, ToolPublisher } from './publish/tool-publisher.js';

/** Limit for a server that never stops paging; far above every limit on tools. */
const MAX_PAGES = 1_000;
/** This many tools over the limit are still read, so that the warning names them; MAX_LIST_BYTES ends most lists. */
const NAMED_OVER_LIMIT = 100_000;

/**
 * Stores the tools that a connected server lists. Does nothing without a session, because opening the next one
 * starts a discovery, and nothing for a DEGRADED server, because its recovery starts one (contract R40). Does not
 * reject: a failure is stored and repeated with growing waits (contract R42).
 */
export class DiscoverTools extends Command<void> {
  constructor(readonly serverId: string) {
    super();
  }
}

@CommandHandler(DiscoverTools)
export class DiscoverToolsHandler implements ICommandHandler<DiscoverTools> {
  private readonly logger = new Logger(DiscoverTools.name);
  private readonly runs = new CoalescedRuns();

  constructor(
    private readonly sessions: SessionPool,
    private readonly catalogue: Catalogue,
    private readonly publisher: ToolPublisher,
    private readonly servers: DiscoveredServerStore,
    private readonly commands: CommandBus,
    private readonly queries: QueryBus,
    private readonly signals: Signals,
    private readonly progress: DiscoveryProgress,
    private readonly retries: DiscoveryRetries,
    private readonly failPoints: FailPoints,
    private readonly tracing: Tracing,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  execute({ serverId }: DiscoverTools): Promise<void> {
    return this.runs.run(serverId, () => this.discover(serverId));
  }

  private async discover(serverId: string): Promise<void> {
    const session = this.sessions.get(serverId);
    if (!session) return;
    try {
      if (!(await this.isConnected(serverId))) return;
      this.progress.start(serverId);
      const name = this.catalogue.current.servers.get(serverId)?.name;
      await this.tracing.work('discover tools', ['switchboard.server', name], () =>
        this.read(serverId, session),
      );
      this.retries.clear(serverId);
    } catch (error) {
      if (error instanceof ServerNotFound) return this.progress.forget(serverId);
      await this.repeatLater(serverId, session, error);
    }
  }

  /** Reads the row only if the catalogue, which may be late, shows another status. */
  private async isConnected(serverId: string): Promise<boolean> {
    if (this.catalogue.current.servers.get(serverId)?.status === 'CONNECTED') return true;
    return (await this.queries.execute(new GetServer(serverId))).status === 'CONNECTED';
  }

  private async read(serverId: string, session: UpstreamSession): Promise<void> {
    const withheld: ToolRemark[] = [];
    const listed = await this.list(session, withheld);
    this.failPoints.pass('discovery.listed');
    this.progress.step(serverId, { phase: 'WRITING', listed: listed.length });
    const read = await inSlices(readTools(listed, session.provenance));
    const remarks = [...withheld, ...read.remarks];
    const published = await this.publisher.publish(serverId, { ...read, remarks });
    if (!published) return this.progress.forget(serverId);
    this.failPoints.pass('discovery.committed');
    await this.announce(serverId, published);
    this.failPoints.pass('discovery.published');
  }

  private async list(session: UpstreamSession, withheld: ToolRemark[]): Promise<JsonObject[]> {
    try {
      return await session.listAll('tools', {
        maxItems: this.env.MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER + NAMED_OVER_LIMIT,
        maxPages: MAX_PAGES,
        timeoutMs: this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000,
        onWithheld: (name, why) => withheld.push({ name, text: `is not published: ${why}` }),
      });
    } catch (error) {
      // A server that declares no tools may have some; it may also refuse to list them, or not answer.
      if (session.capabilities['tools'] === undefined && isRefusal(error)) return [];
      throw error;
    }
  }

  private async announce(serverId: string, published: Published): Promise<void> {
    const { added, changed, removed, server, count, quarantined } = published;
    if (count === 0) this.logger.warn({ server, server_id: serverId }, 'server.no_tools');
    this.logger.log(
      {
        server,
        server_id: serverId,
        added: added.length,
        changed: changed.length,
        removed: removed.length,
      },
      'tool.discovered',
    );
    await this.signals.tell(new ToolsDiscovered(serverId, added, changed, removed));
    if (quarantined.tools.length > 0) {
      const { tools, findings } = quarantined;
      await this.signals.tell(new ToolQuarantined(serverId, server, tools, findings));
    }
    this.progress.step(serverId, {
      phase: 'DONE',
      written: added.length + changed.length,
      added: added.length,
      changed: changed.length,
      removed: removed.length,
    });
  }

  private async repeatLater(
    serverId: string,
    session: UpstreamSession,
    error: unknown,
  ): Promise<void> {
    const isExplained = error instanceof AppError;
    const reason = isExplained ? error.message : 'the tools could not be stored';
    this.progress.step(serverId, { phase: 'FAILED', error: reason });
    if (this.sessions.get(serverId) !== session) return; // the next session starts a discovery
    const repeat = (): Promise<void> => this.commands.execute(new DiscoverTools(serverId));
    const waitMs = this.retries.schedule(serverId, repeat);
    const line = { server_id: serverId, reason, retry_in_ms: waitMs };
    if (isExplained) this.logger.warn(line, 'discovery.failed');
    else this.logger.error({ ...line, err: error }, 'discovery.failed');
    // The list of another process counts, whose session may be in order.
    if (this.sessions.leads) await this.noteFailure(serverId, reason);
  }

  private async noteFailure(serverId: string, reason: string): Promise<void> {
    try {
      await this.commands.execute(new SetListFailure(serverId, 'tools', reason));
      await this.servers.setReadAt(serverId, this.clock.now());
    } catch (error) {
      if (error instanceof ServerNotFound) return;
      this.logger.warn({ server_id: serverId, err: error }, 'discovery.failure_not_stored');
    }
  }
}

/** Answers to a request that a server does not know. */
function isRefusal(error: unknown): boolean {
  return (
    error instanceof UpstreamRpcError ||
    error instanceof UpstreamHttpError ||
    error instanceof RequestTimedOut
  );
}
