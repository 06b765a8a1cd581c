import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { RenameTools } from '@app/registry';
import { ToolStore } from './tool.store.js';

@CommandHandler(RenameTools)
export class RenameToolsHandler implements ICommandHandler<RenameTools> {
  constructor(private readonly tools: ToolStore) {}

  execute({ serverId, serverName, tx }: RenameTools): Promise<void> {
    return this.tools.rename(serverId, serverName, tx);
  }
}
