import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved } from '@app/events';
import { CallDayStore } from './call-day.store.js';
import { CallHistory } from './call-history.js';

/** Days that are stored later by a call that still ran are left to the retention. */
@EventsHandler(ServerRemoved)
export class ForgetCallsOnServerRemoved implements IEventHandler<ServerRemoved> {
  constructor(
    private readonly history: CallHistory,
    private readonly days: CallDayStore,
  ) {}

  async handle({ serverId }: ServerRemoved): Promise<void> {
    this.history.forgetServer(serverId);
    await this.days.forgetServer(serverId);
  }
}
