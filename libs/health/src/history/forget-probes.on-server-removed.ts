import { EventsHandler, type IEventHandler } from '@nestjs/cqrs';
import { ServerRemoved } from '@app/events';
import { ProbeHistory } from './probe-history.js';

@EventsHandler(ServerRemoved)
export class ForgetProbesOnServerRemoved implements IEventHandler<ServerRemoved> {
  constructor(private readonly probes: ProbeHistory) {}

  handle({ serverId }: ServerRemoved): void {
    this.probes.forget(serverId);
  }
}
