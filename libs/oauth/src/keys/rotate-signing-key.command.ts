import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Database, Env, oauthIssuer, Replicas } from '@app/platform';
import { NoAuthorizationServer } from '../oauth.errors.js';
import { KeyStore } from '../rows/key.store.js';
import { newSigningKey } from './signing-key.js';
import { SIGNING_KEYS_CHANGED, SigningKeys } from './signing-keys.js';

export interface RotatedKey {
  readonly kid: string;
  /** Until when tokens of the keys before are accepted. */
  readonly previousUntil: Date;
}

/**
 * Signs access tokens with another key. Those before are published and believed until their last token has ended, or,
 * for a key that others may have, no longer: clients then refresh their tokens.
 */
export class RotateSigningKey extends Command<RotatedKey> {
  constructor(
    readonly endsOthers: boolean,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RotateSigningKey)
export class RotateSigningKeyHandler implements ICommandHandler<RotateSigningKey> {
  constructor(
    private readonly env: Env,
    private readonly database: Database,
    private readonly store: KeyStore,
    private readonly keys: SigningKeys,
    private readonly audit: AuditStore,
    private readonly replicas: Replicas,
  ) {}

  async execute({ endsOthers, actor }: RotateSigningKey): Promise<RotatedKey> {
    if (oauthIssuer(this.env) === undefined) throw new NoAuthorizationServer();
    const key = newSigningKey();
    const previousUntil = await this.database.transaction(async (tx) => {
      const until = await this.store.replace(key, endsOthers, tx);
      const details = { kid: key.kid, ends_others: endsOthers };
      await this.audit.record({ event: 'oauth.key_rotated', actor, details }, tx);
      await this.replicas.tellIn(tx, SIGNING_KEYS_CHANGED);
      return until;
    });
    await this.keys.reload();
    return { kid: key.kid, previousUntil };
  }
}
