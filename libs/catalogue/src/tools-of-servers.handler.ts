import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { type ToolSummary, ToolsOfServers } from '@app/registry';
import { Catalogue } from './catalogue.js';

@QueryHandler(ToolsOfServers)
export class ToolsOfServersHandler implements IQueryHandler<ToolsOfServers> {
  constructor(private readonly catalogue: Catalogue) {}

  async execute({
    serverIds,
  }: ToolsOfServers): Promise<ReadonlyMap<string, readonly ToolSummary[]>> {
    const { toolsByServer } = this.catalogue.current;
    return new Map(serverIds.map((id) => [id, toolsByServer.get(id) ?? []]));
  }
}
