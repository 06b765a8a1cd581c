import { Query } from '@nestjs/cqrs';

export interface ToolSummary {
  readonly id: number;
  readonly name: string;
  readonly originalName: string;
  readonly description: string;
}

/** The available tools of these servers, ordered by name. Handled by the catalogue, which owns the tools table. */
export class ToolsOfServers extends Query<ReadonlyMap<string, readonly ToolSummary[]>> {
  constructor(readonly serverIds: readonly string[]) {
    super();
  }
}
