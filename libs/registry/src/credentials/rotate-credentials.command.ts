import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database } from '@app/platform';
import { AuthorizationStore } from './authorization.store.js';
import { CredentialVault } from './credential-vault.js';
import { ServerStore } from '../server.store.js';

/** Re-encrypts every row with MCP_CREDENTIAL_KEY in one transaction. */
export class RotateCredentials extends Command<{ servers: number }> {
  constructor(readonly actor: Actor) {
    super();
  }
}

@CommandHandler(RotateCredentials)
export class RotateCredentialsHandler implements ICommandHandler<RotateCredentials> {
  constructor(
    private readonly database: Database,
    private readonly servers: ServerStore,
    private readonly authorizations: AuthorizationStore,
    private readonly vault: CredentialVault,
    private readonly audit: AuditStore,
  ) {}

  execute({ actor }: RotateCredentials): Promise<{ servers: number }> {
    return this.database.background.transaction(async (tx) => {
      const servers = await this.servers.resealAll(tx);
      await this.authorizations.resealAll(tx);
      await this.vault.resealOthers(tx);
      await this.vault.sealCheck(tx);
      await this.audit.record({ event: 'credentials.rotated', actor, details: { servers } }, tx);
      return { servers };
    });
  }
}
