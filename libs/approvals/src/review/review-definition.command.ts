import { Inject } from '@nestjs/common';
import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ToolApproved } from '@app/events';
import { Database, Env, FailPoints, Signals } from '@app/platform';
import { DiscoveredServerStore } from '@app/registry';
import { type Approval, ApprovalStore } from '../approval.store.js';
import { ApprovalNotFound, DefinitionChanged, ServerLocked } from '../approvals.errors.js';
import { ApprovedTools } from './approved-tools.js';

export type ApprovalRef = { readonly id: number } | { readonly toolId: number };

/** Approves or rejects one definition that waits; throws DefinitionChanged if it is another one by now. */
export class ReviewDefinition extends Command<Approval> {
  constructor(
    readonly ref: ApprovalRef,
    readonly verdict: 'APPROVED' | 'REJECTED',
    readonly expectedHash: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ReviewDefinition)
export class ReviewDefinitionHandler implements ICommandHandler<ReviewDefinition> {
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

  async execute({ ref, verdict, expectedHash, actor }: ReviewDefinition): Promise<Approval> {
    const shown = 'id' in ref ? String(ref.id) : `tool ${ref.toolId}`;
    const seen = await this.approvals.find(ref);
    if (!seen) throw new ApprovalNotFound(shown);
    const decided = await this.database.bulk.transaction(async (tx) => {
      const server = await this.servers.lock(seen.serverId, tx);
      const approval = server && (await this.approvals.find(ref, tx));
      if (!approval) throw new ApprovalNotFound(shown);
      if (approval.listedHash !== expectedHash) {
        throw new DefinitionChanged(`${server.name}.${approval.name}`, approval.listedHash);
      }
      const isLocked = (server.trust ?? this.env.MCP_AGGREGATOR_TRUST) === 'locked';
      if (verdict === 'APPROVED') {
        if (isLocked) throw new ServerLocked(server.name);
        await this.offered.offer([approval], actor.name, tx);
      } else await this.approvals.decide(approval.id, verdict, actor.name, tx);
      const { name, kind, findings } = approval;
      const codes = [...new Set(findings.map(({ code }) => code))];
      const details = { kind, names: [name], hash: expectedHash, findings: codes };
      await this.servers.addHistory(server.id, `TOOLS_${verdict}`, details, tx);
      const event = `tools.${verdict.toLowerCase()}`;
      await this.audit.record({ event, actor, server, details }, tx);
      this.failPoints.pass('approvals.decided');
      return approval;
    });
    this.failPoints.pass('approvals.committed');
    if (verdict === 'APPROVED') {
      const toolIds = decided.toolId === null ? [] : [decided.toolId];
      await this.signals.tell(new ToolApproved(decided.serverId, toolIds));
    }
    return decided;
  }
}
