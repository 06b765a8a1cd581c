import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { PersonConnectionChanged } from '@app/events';
import { Signals } from '@app/platform';
import { PersonSessions } from './person-sessions.js';

/** The next call of the person opens a session with the new credentials; other replicas compare them with the row. */
@Injectable()
export class CloseSessionOnPersonConnectionChanged implements OnModuleInit, OnModuleDestroy {
  private stop: () => void = () => undefined;

  constructor(
    private readonly sessions: PersonSessions,
    private readonly signals: Signals,
  ) {}

  onModuleInit(): void {
    this.stop = this.signals.hear(PersonConnectionChanged, (event) => this.handle(event));
  }

  onModuleDestroy(): void {
    this.stop();
  }

  /** Not awaited: the session is not used from now on, while its process may take seconds to exit. */
  handle({ serverId, subject }: PersonConnectionChanged): void {
    void this.sessions.changed(serverId, subject);
  }
}
