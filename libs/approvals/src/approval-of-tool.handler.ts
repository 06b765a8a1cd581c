import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { ApprovalOfTool } from '@app/catalogue';
import { ApprovalStore } from './approval.store.js';

@QueryHandler(ApprovalOfTool)
export class ApprovalOfToolHandler implements IQueryHandler<ApprovalOfTool> {
  constructor(private readonly approvals: ApprovalStore) {}

  async execute({ toolId }: ApprovalOfTool): Promise<string | null> {
    const approval = await this.approvals.find({ toolId });
    return approval === undefined ? null : String(approval.id);
  }
}
