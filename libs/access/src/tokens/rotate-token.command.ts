import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, Database, FailPoints, Replicas } from '@app/platform';
import { AuditStore } from '../audit/audit.store.js';
import { tokenHash } from '../authenticate/admin-token.js';
import type { Actor } from '../authenticate/principal.js';
import { Tokens } from '../authenticate/tokens.js';
import { type IssuedToken, newSecret, TOKENS_CHANGED } from './issued-token.js';
import { IssuedTokenStore } from './issued-token.store.js';

/** Gives a token another secret. The one before is accepted for some time, so that programs can be changed over. */
export class RotateToken extends Command<{ readonly token: IssuedToken; readonly secret: string }> {
  constructor(
    readonly id: string,
    readonly overlapSeconds: number,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RotateToken)
export class RotateTokenHandler implements ICommandHandler<RotateToken> {
  constructor(
    private readonly database: Database,
    private readonly store: IssuedTokenStore,
    private readonly audit: AuditStore,
    private readonly tokens: Tokens,
    private readonly clock: Clock,
    private readonly replicas: Replicas,
    private readonly failPoints: FailPoints,
  ) {}

  async execute({
    id,
    overlapSeconds,
    actor,
  }: RotateToken): Promise<{ readonly token: IssuedToken; readonly secret: string }> {
    const secret = newSecret();
    const previousUntil = new Date(this.clock.now().getTime() + overlapSeconds * 1_000);
    const token = await this.database.transaction(async (tx) => {
      const before = await this.store.lock(id, tx);
      const hash = tokenHash(secret);
      await this.store.replaceHash(id, hash, previousUntil, tx);
      const details = { token_id: id, token: before.name, overlap_seconds: overlapSeconds };
      await this.audit.record({ event: 'token.rotated', actor, details }, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
      this.failPoints.pass('tokens.written');
      return { ...before, hash, previousHash: before.hash, previousUntil };
    });
    this.failPoints.pass('tokens.committed');
    await this.tokens.reload();
    return { token, secret };
  }
}
