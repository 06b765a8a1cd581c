import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { type Command, CommandBus } from '@nestjs/cqrs';
import { Replicas } from '@app/platform';
import { CloseWithdrawnSessions } from './close-withdrawn-sessions.command.js';
import { ReconcileSessions } from './reconcile-sessions.command.js';
import { DISCONNECT_FORCED, SESSIONS_CHANGED } from './session-news.js';

/** Another replica wrote what concerns the sessions of this one: act now instead of at the next comparison. */
@Injectable()
export class ReconcileSessionsOnReplicaNews implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger(ReconcileSessions.name);
  private stopHearing: (() => void) | undefined;

  constructor(
    private readonly replicas: Replicas,
    private readonly commands: CommandBus,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.replicas.hear(({ topic, ids }) => {
      if (topic === SESSIONS_CHANGED) this.run(new ReconcileSessions(ids));
      else if (topic === DISCONNECT_FORCED) this.run(new CloseWithdrawnSessions(ids, true));
    });
  }

  onModuleDestroy(): void {
    this.stopHearing?.();
  }

  private run(command: Command<void>): void {
    this.commands.execute(command).catch((error: unknown) => {
      this.logger.error({ err: error }, 'session.not_reconciled');
    });
  }
}
