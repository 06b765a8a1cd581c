import { CommandBus, EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { SessionOpened, ToolListChanged } from '@app/events';
import { DiscoverTools } from './discover-tools.command.js';

@EventsHandler(SessionOpened, ToolListChanged)
export class DiscoverToolsOnSessionOpened implements IEventHandler<
  SessionOpened | ToolListChanged
> {
  constructor(private readonly commands: CommandBus) {}

  async handle({ serverId }: SessionOpened | ToolListChanged): Promise<void> {
    await this.commands.execute(new DiscoverTools(serverId));
  }
}
