import { Query } from '@nestjs/cqrs';

export interface WithheldDefinitions {
  readonly tools: number;
  readonly prompts: number;
  /** 1 while the text that the server says about itself waits. */
  readonly instructions: number;
  /** Of all of them, as approving them at once expects it; null when nothing waits. */
  readonly hash: string | null;
}

/** What of a server waits for approval. Handled by the approvals, which own those rows. */
export class WithheldOfServer extends Query<WithheldDefinitions> {
  constructor(readonly serverId: string) {
    super();
  }
}
