import { Inject, Injectable } from '@nestjs/common';
import { AuditStore, SYSTEM } from '@app/access';
import { ToolQuarantined } from '@app/events';
import { Database, Env, inSlices, type JsonObject, Signals, type Tx } from '@app/platform';
import { type DiscoveredServer, DiscoveredServerStore } from '@app/registry';
import type { ApprovalKind } from '../approval.js';
import { ApprovalStore } from '../approval.store.js';
import { changeDetails, namesIn } from './change-details.js';
import {
  decideDefinitions,
  type DefinitionDecisions,
  type ListedDefinition,
} from './decide-definitions.js';
import { pinHashOf } from './pin.js';

/** The rows of the caller that have what is offered. */
export interface OfferedRows {
  /** By name; undefined when nothing of this kind was ever listed. */
  readonly read: (tx: Tx) => Promise<ReadonlyMap<string, JsonObject> | undefined>;
  readonly write: (offered: ReadonlySet<string>, tx: Tx) => Promise<void>;
}

/** Decides which prompts or instructions of a server are offered, in one transaction with their rows. */
@Injectable()
export class DefinitionScreening {
  constructor(
    private readonly database: Database,
    private readonly approvals: ApprovalStore,
    private readonly servers: DiscoveredServerStore,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The names that are offered; none of a server that has been removed. */
  async publish(
    serverId: string,
    kind: Exclude<ApprovalKind, 'tool'>,
    listed: readonly ListedDefinition[],
    rows: OfferedRows,
  ): Promise<ReadonlySet<string>> {
    const done = await this.database.background.transaction(async (tx) => {
      const server = await this.servers.lock(serverId, tx);
      if (!server) return undefined;
      const offered = await rows.read(tx);
      const known = await this.approvals.knownOf(serverId, kind, tx);
      const trust = server.trust ?? this.env.MCP_AGGREGATOR_TRUST;
      const decisions = await inSlices(decideDefinitions({ trust, listed, offered, known }));
      await this.remember(serverId, kind, decisions, tx);
      await this.record(server, kind, decisions, tx);
      await rows.write(decisions.offered, tx);
      return { server, decisions };
    });
    if (!done) return new Set();
    const { server, decisions } = done;
    const { newlyWithheld, offered } = decisions;
    if (newlyWithheld.length > 0) {
      const names = newlyWithheld.map(({ name }) => name);
      await this.signals.tell(
        new ToolQuarantined(serverId, server.name, names, codesOf(decisions)),
      );
    }
    return offered;
  }

  private async remember(
    serverId: string,
    kind: ApprovalKind,
    { settled, gone, withheld }: DefinitionDecisions,
    tx: Tx,
  ): Promise<void> {
    await this.approvals.settle(serverId, kind, settled, tx);
    await this.approvals.keepGone(serverId, kind, gone, tx);
    const rows = withheld.map(({ listed: { name, definition }, isRejected, change }) => ({
      name,
      toolId: null,
      isRejected,
      approvedHash: change.approvedHash,
      approvedDefinition: change.approvedDefinition,
      listedHash: pinHashOf(definition),
      listedDefinition: definition,
      listedContentHash: null,
      renamedFrom: change.renamedFrom,
      findings: change.findings,
    }));
    await this.approvals.withhold(serverId, kind, rows, tx);
  }

  private async record(
    server: DiscoveredServer,
    kind: ApprovalKind,
    decisions: DefinitionDecisions,
    tx: Tx,
  ): Promise<void> {
    const { newlyWithheld, cleared, published } = decisions;
    if (newlyWithheld.length > 0) {
      const details = { kind, ...changeDetails(newlyWithheld) };
      await this.servers.addHistory(server.id, 'TOOLS_WITHHELD', details, tx);
      const names = namesIn(newlyWithheld.map(({ name }) => name));
      const audited = { kind, ...names, findings: codesOf(decisions) };
      await this.audit.record(
        { event: 'tools.withheld', actor: SYSTEM, server, details: audited },
        tx,
      );
    }
    if (cleared.length > 0) {
      const details = { kind, ...namesIn(cleared) };
      await this.servers.addHistory(server.id, 'TOOLS_CLEARED', details, tx);
      await this.audit.record({ event: 'tools.cleared', actor: SYSTEM, server, details }, tx);
    }
    if (published.length > 0) {
      const details = { kind, ...changeDetails(published) };
      await this.servers.addHistory(server.id, 'TOOLS_CHANGED', details, tx);
    }
  }
}

function codesOf({ newlyWithheld }: DefinitionDecisions): string[] {
  return [
    ...new Set(newlyWithheld.flatMap(({ findings }) => findings.map(({ code }) => code))),
  ].toSorted();
}
