import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RemoveTools } from '@app/registry';
import { ToolStore } from './tool.store.js';

@CommandHandler(RemoveTools)
export class RemoveToolsHandler implements ICommandHandler<RemoveTools> {
  constructor(private readonly tools: ToolStore) {}

  execute({ serverId, tx }: RemoveTools): Promise<void> {
    return this.tools.removeOf(serverId, tx);
  }
}
