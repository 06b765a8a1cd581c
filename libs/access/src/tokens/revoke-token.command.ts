import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Database, FailPoints, Replicas } from '@app/platform';
import { AuditStore } from '../audit/audit.store.js';
import type { Actor } from '../authenticate/principal.js';
import { Tokens } from '../authenticate/tokens.js';
import { TOKENS_CHANGED } from './issued-token.js';
import { IssuedTokenStore } from './issued-token.store.js';

/** Refuses a token from the next request on, and ends the sessions of its programs. */
export class RevokeToken extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RevokeToken)
export class RevokeTokenHandler implements ICommandHandler<RevokeToken> {
  constructor(
    private readonly database: Database,
    private readonly store: IssuedTokenStore,
    private readonly audit: AuditStore,
    private readonly tokens: Tokens,
    private readonly replicas: Replicas,
    private readonly failPoints: FailPoints,
  ) {}

  async execute({ id, actor }: RevokeToken): Promise<void> {
    await this.database.transaction(async (tx) => {
      const { name } = await this.store.lock(id, tx);
      await this.store.delete(id, tx);
      const details = { token_id: id, token: name };
      await this.audit.record({ event: 'token.revoked', actor, details }, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
      this.failPoints.pass('tokens.written');
    });
    this.failPoints.pass('tokens.committed');
    await this.tokens.drop(id);
  }
}
