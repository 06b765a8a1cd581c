import { Inject, Injectable } from '@nestjs/common';
import { AuditStore, SYSTEM } from '@app/access';
import { Catalogue, type DiscoveredTool, TOOLS_CHANGED, ToolStore } from '@app/catalogue';
import { Env, inSlices, Replicas, type Tx } from '@app/platform';
import { type DiscoveredServer, DiscoveredServerStore } from '@app/registry';
import { ApprovalStore } from '../approval.store.js';
import type { FindingCode } from '../findings/finding.js';
import type { Surroundings } from '../findings/findings.js';
import { namesOfOthers, type ToolNames } from '../findings/other-tools.js';
import { changeDetails, namesIn } from './change-details.js';
import { comparedTools, decideTools, type ToolDecisions } from './decide-tools.js';

export interface ScreenedTools {
  readonly added: readonly number[];
  /** Also tools that are withheld, or no longer. */
  readonly changed: readonly number[];
  readonly removed: readonly number[];
  /** Withheld by this listing, and not before. */
  readonly quarantined: {
    readonly tools: readonly string[];
    readonly findings: readonly FindingCode[];
  };
}

/** Decides which tools of a listing are offered, and writes all of them, in the transaction of the discovery. */
@Injectable()
export class ToolScreening {
  constructor(
    private readonly approvals: ApprovalStore,
    private readonly tools: ToolStore,
    private readonly servers: DiscoveredServerStore,
    private readonly audit: AuditStore,
    private readonly catalogue: Catalogue,
    private readonly replicas: Replicas,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The row of the server is locked. `written` is told how many tools were written so far. */
  async publish(
    server: DiscoveredServer,
    listed: readonly DiscoveredTool[],
    written: (tools: number) => void,
    tx: Tx,
  ): Promise<ScreenedTools> {
    const stored = await this.tools.ofServer(server.id, tx);
    const known = await this.approvals.knownOf(server.id, 'tool', tx);
    const definitions = await this.tools.definitionsOf(comparedTools(stored, listed), tx);
    const trust = server.trust ?? this.env.MCP_AGGREGATOR_TRUST;
    const names = listed.map(({ originalName }) => originalName);
    const surroundings = this.surroundings(server.id, names);
    const input = { trust, listed, stored, definitions, known };
    const decisions = await inSlices(decideTools(input, surroundings));
    const { diff } = decisions;
    await this.approvals.unlist(diff.removed, tx);
    const added = await this.tools.apply(server.id, server.name, diff, written, tx);
    await this.remember(server, decisions, added, stored, tx);
    await this.record(server, decisions, tx);
    if (decisions.newlyWithheld.length > 0) {
      await this.replicas.tellIn(tx, TOOLS_CHANGED, [server.id]);
    }
    return {
      added,
      changed: [...diff.changed, ...diff.marked].map(({ id }) => id),
      removed: diff.removed,
      quarantined: {
        tools: decisions.newlyWithheld.map(({ name }) => name),
        findings: codesOf(decisions),
      },
    };
  }

  /** Names are collected only when something changed: there may be 100,000 of them. */
  private surroundings(serverId: string, names: readonly string[]): Surroundings {
    const { current } = this.catalogue;
    let others: ToolNames | undefined;
    return {
      get others() {
        return (others ??= namesOfOthers(current, serverId, names));
      },
    };
  }

  private async remember(
    { id }: DiscoveredServer,
    { diff, withheld, gone, settled }: ToolDecisions,
    added: readonly number[],
    stored: readonly { readonly id: number; readonly originalName: string }[],
    tx: Tx,
  ): Promise<void> {
    const ids = new Map(stored.map((tool) => [tool.originalName, tool.id]));
    for (const [i, tool] of diff.added.entries()) {
      const toolId = added[i];
      if (toolId !== undefined) ids.set(tool.originalName, toolId);
    }
    const rows = withheld.map(({ tool, isRejected, change }) => ({
      name: tool.originalName,
      toolId: ids.get(tool.originalName) ?? null,
      isRejected,
      approvedHash: change.approvedHash,
      approvedDefinition: change.approvedDefinition,
      listedHash: tool.pinHash,
      listedDefinition: tool.definition,
      listedContentHash: tool.contentHash,
      renamedFrom: change.renamedFrom,
      findings: change.findings,
    }));
    await this.approvals.settle(id, 'tool', settled, tx);
    await this.approvals.keepGone(id, 'tool', gone, tx);
    await this.approvals.withhold(id, 'tool', rows, tx);
  }

  /** The first definitions of a server are no change. */
  private async record(server: DiscoveredServer, decisions: ToolDecisions, tx: Tx): Promise<void> {
    const { newlyWithheld, published, gone, cleared, isFirstSight } = decisions;
    if (newlyWithheld.length > 0) {
      await this.servers.addHistory(server.id, 'TOOLS_WITHHELD', changeDetails(newlyWithheld), tx);
      const names = namesIn(newlyWithheld.map(({ name }) => name));
      const details = { ...names, findings: codesOf(decisions) };
      await this.audit.record({ event: 'tools.withheld', actor: SYSTEM, server, details }, tx);
    }
    if (cleared.length > 0) {
      const details = namesIn(cleared);
      await this.servers.addHistory(server.id, 'TOOLS_CLEARED', details, tx);
      await this.audit.record({ event: 'tools.cleared', actor: SYSTEM, server, details }, tx);
    }
    if (isFirstSight || published.length + gone.length === 0) return;
    const removed = namesIn(gone.map(({ name }) => name));
    const details = { ...changeDetails(published), removed };
    await this.servers.addHistory(server.id, 'TOOLS_CHANGED', details, tx);
  }
}

function codesOf({ newlyWithheld }: ToolDecisions): FindingCode[] {
  return [
    ...new Set(newlyWithheld.flatMap(({ findings }) => findings.map(({ code }) => code))),
  ].toSorted();
}
