import { CommandBus, EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerAuthorized, ToolListChanged } from '@app/events';
import { DiscoverTools } from './discover-tools.command.js';

/** Also after authorization: another account may see other tools. */
@EventsHandler(ToolListChanged, ServerAuthorized)
export class DiscoverToolsOnToolListChanged implements IEventHandler {
  constructor(private readonly commands: CommandBus) {}

  async handle({ serverId }: ToolListChanged | ServerAuthorized): Promise<void> {
    await this.commands.execute(new DiscoverTools(serverId));
  }
}
