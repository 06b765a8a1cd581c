import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { AuditStore } from '../audit/audit.store.js';
import { tokenHash } from '../authenticate/admin-token.js';
import type { Actor } from '../authenticate/principal.js';
import { newSessionId } from './browser-session.js';
import { type LoginCode, LoginCodeStore } from './login-code.store.js';

export interface LoginLink {
  readonly url: string;
  readonly expiresAt: Date;
}

/** Makes a link that logs a browser in, once, as the holder of a token. */
export class MakeLoginLink extends Command<LoginLink> {
  constructor(
    readonly holder: Omit<LoginCode, 'codeHash'>,
    /** Of this service, as the browser reaches it. */
    readonly url: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(MakeLoginLink)
export class MakeLoginLinkHandler implements ICommandHandler<MakeLoginLink> {
  constructor(
    private readonly database: Database,
    private readonly codes: LoginCodeStore,
    private readonly audit: AuditStore,
  ) {}

  async execute({ holder, url, actor }: MakeLoginLink): Promise<LoginLink> {
    const code = newSessionId();
    const expiresAt = await this.database.transaction(async (tx) => {
      const expiry = await this.codes.insert({ ...holder, codeHash: tokenHash(code) }, tx);
      await this.audit.record({ event: 'console.login_link_made', actor }, tx);
      return expiry;
    });
    // Browsers send no fragment, so the code is in no log of a server or proxy.
    return { url: `${url}/console/login#${code}`, expiresAt };
  }
}
