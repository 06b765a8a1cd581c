import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { AuditStore } from '../audit/audit.store.js';
import type { Actor } from '../authenticate/principal.js';
import { BrowserSessionStore } from './browser-session.store.js';
import { BrowserSessions } from './browser-sessions.js';

/** Ends a browser session: here at once, at other replicas within a second. */
export class LogOut extends Command<void> {
  constructor(
    readonly idHash: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(LogOut)
export class LogOutHandler implements ICommandHandler<LogOut> {
  constructor(
    private readonly database: Database,
    private readonly store: BrowserSessionStore,
    private readonly audit: AuditStore,
    private readonly sessions: BrowserSessions,
  ) {}

  async execute({ idHash, actor }: LogOut): Promise<void> {
    await this.database.transaction(async (tx) => {
      const isEnded = await this.store.delete(idHash, tx);
      if (isEnded) await this.audit.record({ event: 'console.logged_out', actor }, tx);
    });
    this.sessions.forget(idHash);
  }
}
