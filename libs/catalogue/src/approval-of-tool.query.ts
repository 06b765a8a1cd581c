import { Query } from '@nestjs/cqrs';

/** The id of the approval that a withheld tool waits for. Handled by the approvals, which own those rows. */
export class ApprovalOfTool extends Query<string | null> {
  constructor(readonly toolId: number) {
    super();
  }
}
