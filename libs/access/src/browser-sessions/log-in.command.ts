import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database, type Tx } from '@app/platform';
import { LoginRefused } from '../access.errors.js';
import { AuditStore } from '../audit/audit.store.js';
import { tokenHash } from '../authenticate/admin-token.js';
import { Tokens } from '../authenticate/tokens.js';
import { isPassword } from '../passwords/password-hash.js';
import { PasswordStore } from '../passwords/password.store.js';
import type { ProvedPerson } from '../people/person.js';
import { ProviderLogins } from '../people/provider-logins.js';
import { newSessionId } from './browser-session.js';
import { BrowserSessionStore } from './browser-session.store.js';
import { type LiveSession, withHolder } from './browser-sessions.js';
import { LoginCodeStore } from './login-code.store.js';

export interface LoggedIn {
  /** For the cookie; only its hash is stored. */
  readonly id: string;
  readonly session: LiveSession;
}

/** A token of this service, the code of a login link, a name with its password, or what an identity provider proved. */
export type LoginCredential =
  | { readonly token: string }
  | { readonly code: string }
  | { readonly name: string; readonly password: string }
  | { readonly person: ProvedPerson };

/** Begins a browser session. Rejects with LoginRefused, or PersonNotAllowed. */
export class LogIn extends Command<LoggedIn> {
  constructor(
    readonly credential: LoginCredential,
    readonly ip: string | null,
  ) {
    super();
  }
}

interface Beginning {
  readonly tokenHash: string;
  readonly by: 'token' | 'link' | 'password' | 'provider';
  /** No later than this; null for the usual time. */
  readonly endsBy: Date | null;
  readonly holder: NonNullable<ReturnType<Tokens['holderOf']>>;
  /** In the transaction of the login. */
  readonly use: (tx: Tx) => Promise<void>;
}

@CommandHandler(LogIn)
export class LogInHandler implements ICommandHandler<LogIn> {
  constructor(
    private readonly database: Database,
    private readonly store: BrowserSessionStore,
    private readonly codes: LoginCodeStore,
    private readonly passwords: PasswordStore,
    private readonly providerLogins: ProviderLogins,
    private readonly audit: AuditStore,
    private readonly tokens: Tokens,
  ) {}

  async execute({ credential, ip }: LogIn): Promise<LoggedIn> {
    const beginning = await this.beginningWith(credential, ip);
    const { by, endsBy, holder, use } = beginning;
    const id = newSessionId();
    const session = await this.database.transaction(async (tx) => {
      await use(tx);
      const given = { idHash: tokenHash(id), tokenHash: beginning.tokenHash, endsBy };
      const begun = await this.store.insert(given, tx);
      const { name, subject, scopes } = holder.principal;
      const actor = { name, subject, ip };
      // What the provider said of a person is in no setting, and changes with each login.
      const { label: person } = holder;
      const details = { by, ...(person !== undefined && { person, scopes: [...scopes] }) };
      await this.audit.record({ event: 'console.logged_in', actor, details }, tx);
      return begun;
    });
    return { id, session: withHolder(session, holder) };
  }

  private beginningWith(
    credential: LoginCredential,
    ip: string | null,
  ): Beginning | Promise<Beginning> {
    if ('person' in credential) return this.withPerson(credential.person, ip);
    if ('token' in credential) return this.withToken(credential.token);
    if ('code' in credential) return this.withCode(credential.code);
    return this.withPassword(credential.name, credential.password);
  }

  private async withPerson(person: ProvedPerson, ip: string | null): Promise<Beginning> {
    const [tokenHash, holder] = await this.providerLogins.accept(person, ip);
    return { tokenHash, by: 'provider', endsBy: null, holder, use: async () => undefined };
  }

  private async withPassword(name: string, password: string): Promise<Beginning> {
    const owner = await this.passwords.named(name);
    const mayTry = owner && !owner.isLocked && (await this.passwords.noteAttempt(owner.tokenId));
    const isRight = await isPassword(password, (mayTry && owner.passwordHash) || undefined);
    if (!owner || !isRight) throw new LoginRefused('password');
    const holder = await this.holderOf(owner.tokenHash);
    if (!holder) throw new LoginRefused('password');
    const use = (tx: Tx): Promise<void> => this.passwords.noteSuccess(owner.tokenId, tx);
    return { tokenHash: owner.tokenHash, by: 'password', endsBy: null, holder, use };
  }

  private async holderOf(hash: string): Promise<Beginning['holder'] | undefined> {
    // The token may have been issued at another replica a moment ago.
    if (!this.tokens.holderOf(hash)) await this.tokens.reload();
    return this.tokens.holderOf(hash);
  }

  private withToken(token: string): Beginning {
    const hash = tokenHash(token);
    const holder = this.tokens.holderOf(hash);
    if (!holder) throw new LoginRefused(isJwt(token) ? 'jwt' : 'token');
    return { tokenHash: hash, by: 'token', endsBy: null, holder, use: async () => undefined };
  }

  private async withCode(code: string): Promise<Beginning> {
    const found = await this.codes.find(tokenHash(code));
    if (!found) throw new LoginRefused('code');
    const holder = await this.holderOf(found.tokenHash);
    if (!holder) throw new LoginRefused('code');
    const use = async (tx: Tx): Promise<void> => {
      if (!(await this.codes.use(found.codeHash, tx))) throw new LoginRefused('code');
    };
    return { tokenHash: found.tokenHash, by: 'link', endsBy: found.sessionEndsBy, holder, use };
  }
}

function isJwt(token: string): boolean {
  return /^eyJ[\w-]+\.[\w-]+\.[\w-]*$/.test(token);
}
