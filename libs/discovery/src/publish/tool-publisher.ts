import { Inject, Injectable } from '@nestjs/common';
import { type ScreenedTools, ToolScreening } from '@app/approvals';
import type { DiscoveredTool } from '@app/catalogue';
import { Clock, Database, Env, FailPoints, type Tx } from '@app/platform';
import { DiscoveredServerStore } from '@app/registry';
import { DiscoveryProgress } from '../discovery-progress.js';
import { withinLimits } from './limits.js';
import type { ToolRemark } from '../tool.js';

export interface ReadTools {
  readonly tools: readonly DiscoveredTool[];
  readonly remarks: readonly ToolRemark[];
}

export interface Published extends ScreenedTools {
  readonly server: string;
  readonly count: number;
}

/** Writes the tools of a server within the limits (contract R8), also while other replicas write theirs. */
@Injectable()
export class ToolPublisher {
  private last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly database: Database,
    private readonly servers: DiscoveredServerStore,
    private readonly screening: ToolScreening,
    private readonly progress: DiscoveryProgress,
    private readonly failPoints: FailPoints,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  /**
   * Undefined for a removed server. One at a time in this process: only one connection of the pool waits for the
   * lock of another replica.
   */
  publish(serverId: string, read: ReadTools): Promise<Published | undefined> {
    const published = this.last.then(() =>
      this.database.background.transaction((tx) => this.write(serverId, read, tx)),
    );
    this.last = published.catch(() => undefined);
    return published;
  }

  private async write(
    serverId: string,
    { tools, remarks }: ReadTools,
    tx: Tx,
  ): Promise<Published | undefined> {
    await this.servers.lockPublishing(tx);
    const others = await this.servers.countToolsOfOthers(serverId, tx);
    const { published, leftOut, warnings } = withinLimits(tools, remarks, {
      perServer: this.env.MCP_AGGREGATOR_MAX_TOOLS_PER_SERVER,
      free: this.env.MCP_AGGREGATOR_MAX_TOOLS - others,
    });
    const outcome = { toolCount: published.length, leftOut, warnings, at: this.clock.now() };
    const server = await this.servers.write(serverId, outcome, tx);
    if (server === undefined) return undefined; // removed in the meantime
    const written = (count: number): void =>
      this.progress.step(serverId, { phase: 'WRITING', written: count });
    const screened = await this.screening.publish(server, published, written, tx);
    this.failPoints.pass('discovery.written');
    return { server: server.name, count: published.length, ...screened };
  }
}
