import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { ClientGrantsEnded, PolicyChanged, TokensWithdrawn } from '@app/events';
import { Signals } from '@app/platform';
import { EventStreams } from './event-streams.js';

/** New requests follow already; streams that were open before end too. */
@Injectable()
export class EndStreamsOnAccessChanges implements OnModuleInit, OnModuleDestroy {
  private readonly stops: (() => void)[] = [];

  constructor(
    private readonly signals: Signals,
    private readonly streams: EventStreams,
  ) {}

  onModuleInit(): void {
    for (const event of [ClientGrantsEnded, PolicyChanged, TokensWithdrawn]) {
      this.stops.push(this.signals.hear(event, () => this.streams.endUnadmitted()));
    }
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }
}
