import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database } from '@app/platform';
import { LoginRefused } from '../access.errors.js';
import { AuditStore } from '../audit/audit.store.js';
import { subjectIn } from '../authenticate/principal.js';
import { tokenHash } from '../authenticate/admin-token.js';
import { hashPassword } from './password-hash.js';
import { PasswordStore } from './password.store.js';

/** Sets the password of the person who was invited; returns the name. Rejects with LoginRefused. */
export class ChoosePassword extends Command<string> {
  constructor(
    readonly code: string,
    readonly password: string,
    readonly ip: string | null,
  ) {
    super();
  }
}

@CommandHandler(ChoosePassword)
export class ChoosePasswordHandler implements ICommandHandler<ChoosePassword> {
  constructor(
    private readonly database: Database,
    private readonly passwords: PasswordStore,
    private readonly audit: AuditStore,
  ) {}

  async execute({ code, password, ip }: ChoosePassword): Promise<string> {
    const invitation = tokenHash(code);
    const owner = await this.passwords.invited(invitation);
    if (!owner) throw new LoginRefused('invitation');
    const hash = await hashPassword(password);
    await this.database.transaction(async (tx) => {
      if (!(await this.passwords.accept(invitation, hash, tx))) {
        throw new LoginRefused('invitation');
      }
      const actor = { name: owner.name, ip, subject: subjectIn('issued', owner.tokenId) };
      await this.audit.record({ event: 'token.password_chosen', actor }, tx);
    });
    return owner.name;
  }
}
