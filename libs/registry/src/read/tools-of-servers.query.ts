import { Query } from '@nestjs/cqrs';

export interface ToolSummary {
  readonly id: number;
  readonly name: string;
  readonly originalName: string;
  readonly description: string;
}

export interface ServerTools {
  /** Ordered by name. */
  readonly tools: readonly ToolSummary[];
  /** Tools that wait for approval. */
  readonly withheldCount: number;
}

/** The available tools of these servers. Handled by the catalogue, which owns the tools table. */
export class ToolsOfServers extends Query<ReadonlyMap<string, ServerTools>> {
  constructor(readonly serverIds: readonly string[]) {
    super();
  }
}
