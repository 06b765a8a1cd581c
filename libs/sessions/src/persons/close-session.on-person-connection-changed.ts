import { Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { PersonConnectionChanged } from '@app/events';
import { Replicas, Signals } from '@app/platform';
import { PEOPLE_CHANGED } from '../reconcile/session-news.js';
import { PersonSessions } from './person-sessions.js';

/** The next call of the person opens a session with the new credentials. */
@Injectable()
export class CloseSessionOnPersonConnectionChanged implements OnModuleInit, OnModuleDestroy {
  private stop: () => void = () => undefined;

  constructor(
    private readonly sessions: PersonSessions,
    private readonly signals: Signals,
    private readonly replicas: Replicas,
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
    void this.replicas.tell(PEOPLE_CHANGED, [serverId]);
  }
}
