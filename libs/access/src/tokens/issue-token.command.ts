import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { Clock, Database, FailPoints, Replicas, type TokenScope } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { AuditStore } from '../audit/audit.store.js';
import { tokenHash } from '../authenticate/admin-token.js';
import type { Actor, PinnedView } from '../authenticate/principal.js';
import { Tokens } from '../authenticate/tokens.js';
import { type IssuedToken, newSecret, TOKENS_CHANGED } from './issued-token.js';
import { IssuedTokenStore } from './issued-token.store.js';

/** Makes a token. Its secret is in the result, and nowhere else. */
export class IssueToken extends Command<{ readonly token: IssuedToken; readonly secret: string }> {
  constructor(
    readonly name: string,
    readonly scopes: readonly TokenScope[],
    /** Undefined for a token that does not expire. */
    readonly expiresInSeconds: number | undefined,
    readonly actor: Actor,
    /** The only view that the token can use. */
    readonly view: PinnedView | null = null,
  ) {
    super();
  }
}

@CommandHandler(IssueToken)
export class IssueTokenHandler implements ICommandHandler<IssueToken> {
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
    name,
    scopes,
    expiresInSeconds,
    actor,
    view,
  }: IssueToken): Promise<{ readonly token: IssuedToken; readonly secret: string }> {
    const secret = newSecret();
    const createdAt = this.clock.now();
    const token: IssuedToken = {
      id: randomUUID(),
      name,
      scopes,
      view,
      hash: tokenHash(secret),
      previousHash: null,
      previousUntil: null,
      createdBy: actor.name,
      createdAt,
      expiresAt:
        expiresInSeconds === undefined
          ? null
          : new Date(createdAt.getTime() + expiresInSeconds * 1_000),
      lastUsedAt: null,
    };
    await this.database.transaction(async (tx) => {
      await this.store.insert(token, tx);
      const details = {
        token_id: token.id,
        token: name,
        scopes: [...scopes],
        ...(view && { view_id: view.viewId, level: view.level }),
      };
      await this.audit.record({ event: 'token.issued', actor, details }, tx);
      await this.replicas.tellIn(tx, TOKENS_CHANGED);
      this.failPoints.pass('tokens.written');
    });
    this.failPoints.pass('tokens.committed');
    await this.tokens.reload();
    return { token, secret };
  }
}
