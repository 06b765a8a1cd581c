import { type IQueryHandler, QueryHandler } from '@nestjs/cqrs';
import { type ServerTools, ToolsOfServers } from '@app/registry';
import { Catalogue } from './catalogue.js';

@QueryHandler(ToolsOfServers)
export class ToolsOfServersHandler implements IQueryHandler<ToolsOfServers> {
  constructor(private readonly catalogue: Catalogue) {}

  async execute({ serverIds }: ToolsOfServers): Promise<ReadonlyMap<string, ServerTools>> {
    const { toolsByServer, withheld } = this.catalogue.current;
    return new Map(
      serverIds.map((id) => [
        id,
        {
          tools: toolsByServer.get(id) ?? [],
          withheldCount: withheld.toolsByServer.get(id)?.length ?? 0,
        },
      ]),
    );
  }
}
