import { Inject, Logger } from '@nestjs/common';
import { Command, CommandBus, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { ToolsDiscovered } from '@app/events';
import { AppError, Database, Env, FailPoints } from '@app/platform';
import { SetServerWarnings } from '@app/registry';
import { SessionPool } from '@app/sessions';
import type { UpstreamSession } from '@app/mcp';
import { isDeepStrictEqual } from 'node:util';
import { DiscoveryProgress } from './discovery-progress.js';
import { withinLimits } from './limits.js';
import { diffTools, readTools } from './tool.js';
import { ToolStore } from './tool.store.js';

/** A server that pages without end is cut off here, far above any limit on tools. */
const MAX_PAGES = 1_000;
/** So many tools over the limit are still read, to be named in the warning. */
const NAMED_OVER_LIMIT = 1_000;

/** Makes the rows of a connected server say what it lists. Without a session there is nothing to do: its opening asks again. */
export class DiscoverTools extends Command<void> {
  constructor(readonly serverId: string) {
    super();
  }
}

@CommandHandler(DiscoverTools)
export class DiscoverToolsHandler implements ICommandHandler<DiscoverTools> {
  private readonly logger = new Logger(DiscoverTools.name);
  /** One discovery a server at a time: a second one waits for the first and then sees what came since. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly sessions: SessionPool,
    private readonly database: Database,
    private readonly store: ToolStore,
    private readonly commands: CommandBus,
    private readonly events: EventBus,
    private readonly progress: DiscoveryProgress,
    private readonly failPoints: FailPoints,
    @Inject(Env) private readonly env: Env,
  ) {}

  execute({ serverId }: DiscoverTools): Promise<void> {
    const before = this.running.get(serverId) ?? Promise.resolve();
    const run = before.catch(() => undefined).then(() => this.discover(serverId));
    this.running.set(serverId, run);
    const forget = (): void => {
      if (this.running.get(serverId) === run) this.running.delete(serverId);
    };
    run.then(forget, forget);
    return run;
  }

  private async discover(serverId: string): Promise<void> {
    const session = this.sessions.get(serverId);
    if (!session) return;
    this.progress.start(serverId);
    try {
      await this.read(serverId, session);
    } catch (error) {
      const reason = error instanceof AppError ? error.message : 'the tools could not be stored';
      this.progress.step(serverId, { phase: 'FAILED', error: reason });
      throw error;
    }
  }

  private async read(serverId: string, session: UpstreamSession): Promise<void> {
    const perServer = this.env.MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER;
    const listed = await session.listAll('tools', {
      maxItems: perServer + NAMED_OVER_LIMIT,
      maxPages: MAX_PAGES,
      timeoutMs: this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000,
    });
    this.failPoints.pass('discovery.listed');
    this.progress.step(serverId, { phase: 'WRITING', listed: listed.length });
    const { tools, remarks } = readTools(listed);
    const written = await this.database.transaction(async (tx) => {
      const stored = await this.store.ofServer(serverId, tx);
      if (!stored) return undefined; // removed meanwhile
      const others = await this.store.countOfOthers(serverId, tx);
      const { published, warnings } = withinLimits(tools, remarks, {
        perServer,
        free: this.env.MCP_AGGREGATOR_MAX_TOOLS - others,
      });
      const diff = diffTools(stored.tools, published);
      const written = (count: number): void =>
        this.progress.step(serverId, { phase: 'WRITING', written: count });
      const added = await this.store.apply(serverId, stored.serverName, diff, written, tx);
      this.failPoints.pass('discovery.written');
      return {
        added,
        changed: diff.changed.map((tool) => tool.id),
        removed: diff.removed,
        warnings: isDeepStrictEqual(warnings, stored.warnings) ? undefined : warnings,
        server: stored.serverName,
        count: published.length,
      };
    });
    if (!written) return this.progress.forget(serverId);
    this.failPoints.pass('discovery.committed');
    const { added, changed, removed, warnings, server, count } = written;
    if (warnings) await this.commands.execute(new SetServerWarnings(serverId, warnings));
    if (count === 0) this.logger.warn({ server }, 'the server lists no tools');
    this.logger.log(
      { server, added: added.length, changed: changed.length, removed: removed.length },
      'tools discovered',
    );
    this.progress.step(serverId, {
      phase: 'DONE',
      written: added.length + changed.length,
      added: added.length,
      changed: changed.length,
      removed: removed.length,
    });
    this.events.publish(new ToolsDiscovered(serverId, added, changed, removed));
    this.failPoints.pass('discovery.published');
  }
}
