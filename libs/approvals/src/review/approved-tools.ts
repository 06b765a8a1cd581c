import { Injectable } from '@nestjs/common';
import { partsOf, ToolStore } from '@app/catalogue';
import type { Tx } from '@app/platform';
import { type Approval, ApprovalStore } from '../approval.store.js';

/** Offers definitions that a person approved, in the transaction of the decision. */
@Injectable()
export class ApprovedTools {
  constructor(
    private readonly approvals: ApprovalStore,
    private readonly tools: ToolStore,
  ) {}

  async offer(approvals: readonly Approval[], decidedBy: string, tx: Tx): Promise<void> {
    for (const approval of approvals) {
      const { id, name, toolId, listedDefinition: definition, listedHash } = approval;
      const contentHash = approval.listedContentHash;
      if (toolId === null || contentHash === null) {
        // Offered when the server lists it again.
        await this.approvals.decide(id, 'APPROVED', decidedBy, tx);
        continue;
      }
      const texts = { originalName: name, ...partsOf(definition), definition };
      const hashes = { contentHash, pinHash: listedHash, wasCleaned: false };
      await this.tools.rewrite(toolId, { ...texts, ...hashes, withheld: null }, tx);
      await this.approvals.delete(id, tx);
    }
  }
}
