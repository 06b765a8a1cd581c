import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ToolApproved } from '@app/events';
import { Database, Env, FailPoints, Signals } from '@app/platform';
import { DiscoveredServerStore, ServerNotFound } from '@app/registry';
import { ApprovalStore } from '../approval.store.js';
import { DefinitionChanged, ServerLocked } from '../approvals.errors.js';
import { namesIn } from '../decide/change-details.js';
import { hashOfAll } from '../decide/pin.js';
import { ApprovedTools } from './approved-tools.js';

/** Approves everything of a server that waits and was not rejected; returns how many definitions. */
export class ApproveServer extends Command<number> {
  constructor(
    readonly serverId: string,
    readonly expectedHash: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ApproveServer)
export class ApproveServerHandler implements ICommandHandler<ApproveServer> {
  constructor(
    private readonly database: Database,
    private readonly approvals: ApprovalStore,
    private readonly servers: DiscoveredServerStore,
    private readonly offered: ApprovedTools,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
    private readonly failPoints: FailPoints,
    @Inject(Env) private readonly env: Env,
  ) {}

  async execute({ serverId, expectedHash, actor }: ApproveServer): Promise<number> {
    const approved = await this.database.bulk.transaction(async (tx) => {
      const server = await this.servers.lock(serverId, tx);
      if (!server) throw new ServerNotFound(serverId);
      const pending = await this.approvals.pendingOf(serverId, tx);
      const hash =
        pending.length === 0 ? null : hashOfAll(pending.map(({ listedHash }) => listedHash));
      if (hash !== expectedHash) {
        throw new DefinitionChanged(`What waits for approval of ${server.name}`, hash);
      }
      const trust = server.trust ?? this.env.MCP_AGGREGATOR_TRUST;
      if (trust === 'locked') throw new ServerLocked(server.name);
      await this.offered.offer(pending, actor.name, tx);
      const details = { ...namesIn(pending.map(({ name }) => name)), hash };
      await this.servers.addHistory(serverId, 'TOOLS_APPROVED', details, tx);
      await this.audit.record({ event: 'tools.approved', actor, server, details }, tx);
      this.failPoints.pass('approvals.decided');
      return pending;
    });
    this.failPoints.pass('approvals.committed');
    const toolIds = approved.flatMap(({ toolId }) => (toolId === null ? [] : [toolId]));
    await this.signals.tell(new ToolApproved(serverId, toolIds));
    return approved.length;
  }
}
