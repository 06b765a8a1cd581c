import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { LoginRefused } from '../access.errors.js';
import { AuditStore } from '../audit/audit.store.js';
import { tokenHash } from '../authenticate/admin-token.js';
import { Tokens } from '../authenticate/tokens.js';
import { newSessionId } from './browser-session.js';
import { BrowserSessionStore } from './browser-session.store.js';
import { type LiveSession, withHolder } from './browser-sessions.js';

export interface LoggedIn {
  /** For the cookie; only its hash is stored. */
  readonly id: string;
  readonly session: LiveSession;
}

/** Begins a browser session with a token of this service. Rejects with LoginRefused. */
export class LogIn extends Command<LoggedIn> {
  constructor(
    readonly token: string,
    readonly ip: string | null,
  ) {
    super();
  }
}

@CommandHandler(LogIn)
export class LogInHandler implements ICommandHandler<LogIn> {
  constructor(
    private readonly database: Database,
    private readonly store: BrowserSessionStore,
    private readonly audit: AuditStore,
    private readonly tokens: Tokens,
  ) {}

  async execute({ token, ip }: LogIn): Promise<LoggedIn> {
    const hash = tokenHash(token);
    const holder = this.tokens.holderOf(hash);
    if (!holder) throw new LoginRefused(isJwt(token) ? 'jwt' : 'token');
    const id = newSessionId();
    const session = await this.database.transaction(async (tx) => {
      const begun = await this.store.insert({ idHash: tokenHash(id), tokenHash: hash }, tx);
      const actor = { name: holder.principal.name, ip };
      await this.audit.record({ event: 'console.logged_in', actor, details: { by: 'token' } }, tx);
      return begun;
    });
    return { id, session: withHolder(session, holder) };
  }
}

function isJwt(token: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
