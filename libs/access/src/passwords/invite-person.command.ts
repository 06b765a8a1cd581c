import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { AuditStore } from '../audit/audit.store.js';
import { tokenHash } from '../authenticate/admin-token.js';
import type { Actor } from '../authenticate/principal.js';
import { newSessionId } from '../browser-sessions/browser-session.js';
import { IssuedTokenStore } from '../tokens/issued-token.store.js';
import { PasswordStore } from './password.store.js';

export interface Invitation {
  readonly url: string;
  readonly name: string;
  readonly expiresAt: Date;
}

/** Makes a link with which the holder of a token chooses a password, once, within 24 hours. */
export class InvitePerson extends Command<Invitation> {
  constructor(
    readonly tokenId: string,
    /** Of this service, as browsers reach it. */
    readonly url: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(InvitePerson)
export class InvitePersonHandler implements ICommandHandler<InvitePerson> {
  constructor(
    private readonly database: Database,
    private readonly tokens: IssuedTokenStore,
    private readonly passwords: PasswordStore,
    private readonly audit: AuditStore,
  ) {}

  async execute({ tokenId, url, actor }: InvitePerson): Promise<Invitation> {
    const code = newSessionId();
    return this.database.transaction(async (tx) => {
      const { name } = await this.tokens.lock(tokenId, tx);
      const expiresAt = await this.passwords.invite(tokenId, tokenHash(code), tx);
      const details = { token_id: tokenId, token: name };
      await this.audit.record({ event: 'token.person_invited', actor, details }, tx);
      // Browsers send no fragment, so the code is in no log of a server or proxy.
      return { url: `${url}/oauth/password#${code}`, name, expiresAt };
    });
  }
}
