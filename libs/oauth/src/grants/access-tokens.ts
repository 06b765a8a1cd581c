import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  JwtRefused,
  JwtVerifier,
  LruMap,
  type OwnJwts,
  type Principal,
  reaches,
  reachOf,
  type TokenReach,
  Tokens,
} from '@app/access';
import {
  Clock,
  DatabaseUnavailable,
  Env,
  includesScope,
  oauthIssuer,
  type TokenScope,
  tokenScopes,
} from '@app/platform';
import type { JWTPayload, JWTVerifyGetKey } from 'jose';
import { SIGNING_ALGORITHM } from '../keys/signing-key.js';
import { SigningKeys } from '../keys/signing-keys.js';
import { hashOf } from '../rows/record.store.js';
import { LiveGrants } from './live-grants.js';

const MAX_REMEMBERED = 10_000;
const READ_AGAIN_MS = 1_000;

interface Verified {
  readonly grantId: string;
  readonly account: string;
  readonly scopes: readonly TokenScope[];
  readonly reach: TokenReach;
  readonly expiresAt: number;
  /** A hash of the id of the client. */
  readonly client: string;
  /** Who the account was when the principal was made, and the principal. */
  made: { readonly of: Principal; readonly principal: Principal } | undefined;
}

/**
 * Access tokens of this service. A signature is verified once; that its grant is in force, and what the person may do
 * now, is looked up in memory for each request.
 */
@Injectable()
export class AccessTokens implements OwnJwts, OnModuleInit {
  readonly issuer: string;
  private verified = new LruMap<Verified>(MAX_REMEMBERED);
  private keys: { readonly version: number; readonly find: JWTVerifyGetKey } | undefined;
  /** Of the keys that tokens were verified with. */
  private keysVersion = 0;
  /** Monotonic: strangers who invent key ids cause few statements. */
  private readAgainAt = 0;
  private reading: Promise<void> | undefined;

  constructor(
    env: Env,
    private readonly jwts: JwtVerifier,
    private readonly signing: SigningKeys,
    private readonly grants: LiveGrants,
    private readonly tokens: Tokens,
    private readonly clock: Clock,
  ) {
    this.issuer = oauthIssuer(env) ?? '';
  }

  onModuleInit(): void {
    if (this.issuer !== '') this.jwts.adopt(this);
  }

  remembered(hash: string, url: string): Principal | undefined {
    if (this.keysVersion !== this.signing.version) this.forget();
    const known = this.verified.get(hash);
    if (!known || known.expiresAt <= this.clock.now().getTime()) return undefined;
    if (!this.grants.find(known.grantId) || !reaches(known.reach, url)) return undefined;
    return this.principalOf(known);
  }

  async verify(token: string, hash: string, url: string): Promise<Principal> {
    const { version } = this.signing;
    const known = await this.read(token);
    if (!reaches(known.reach, url)) throw new JwtRefused('the token is for another audience');
    await this.refuseWithoutGrant(known.grantId);
    const principal = this.principalOf(known);
    if (!principal) throw new JwtRefused('its person has no access any more');
    // Not if its key may have ended meanwhile.
    if (this.signing.version === version) this.verified.set(hash, known);
    return principal;
  }

  /** Tokens of keys that ended count no more. */
  private forget(): void {
    this.keysVersion = this.signing.version;
    this.verified = new LruMap(MAX_REMEMBERED);
  }

  private async refuseWithoutGrant(grantId: string): Promise<void> {
    if (this.grants.find(grantId)) return;
    try {
      // It may have been given at another replica a moment ago.
      if (await this.grants.lookUp(grantId)) return;
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
    throw new JwtRefused('its grant was withdrawn');
  }

  /** What both the token and its person may do now. */
  private principalOf(known: Verified): Principal | undefined {
    const of = this.tokens.byAccount(known.account);
    if (!of) return undefined;
    if (known.made?.of !== of) {
      const scopes = known.scopes.filter((scope) => includesScope(of.scopes, scope));
      const { client, grantId, expiresAt, account } = known;
      const isGranted = (): boolean =>
        this.grants.find(grantId) !== undefined && this.tokens.byAccount(account) !== undefined;
      const isExpired = (): boolean => expiresAt <= this.clock.now().getTime();
      known.made = { of, principal: { ...of, scopes, client, isGranted, isExpired } };
    }
    return known.made.principal;
  }

  /** Of a token with a valid signature. A key that is not known may have been made at another replica a moment ago. */
  private async payloadOf(token: string): Promise<JWTPayload> {
    const jose = await import('jose');
    try {
      return await this.verifyWith(jose, token);
    } catch (error) {
      if (!(error instanceof jose.errors.JOSEError)) throw error;
      const reading = error instanceof jose.errors.JWKSNoMatchingKey ? this.readAgain() : undefined;
      if (!reading) throw new JwtRefused(error.code);
      await reading;
      return this.verifyWith(jose, token).catch((again: unknown) => {
        throw again instanceof jose.errors.JOSEError ? new JwtRefused(again.code) : again;
      });
    }
  }

  /** Undefined when it was done a moment ago. */
  private readAgain(): Promise<void> | undefined {
    if (!this.reading && this.clock.monotonic() < this.readAgainAt) return undefined;
    this.reading ??= this.signing.reload().finally(() => {
      this.reading = undefined;
      this.readAgainAt = this.clock.monotonic() + READ_AGAIN_MS;
    });
    return this.reading;
  }

  private async verifyWith(jose: typeof import('jose'), token: string): Promise<JWTPayload> {
    const { version, keys } = await this.signing.current();
    if (this.keys?.version !== version) {
      this.keys = { version, find: jose.createLocalJWKSet({ keys: keys.map(publicKey) }) };
    }
    const { payload } = await jose.jwtVerify(token, this.keys.find, {
      issuer: this.issuer,
      typ: 'at+jwt',
      algorithms: [SIGNING_ALGORITHM],
      requiredClaims: ['exp', 'sub'],
      currentDate: this.clock.now(),
    });
    return payload;
  }

  private async read(token: string): Promise<Verified> {
    const payload = await this.payloadOf(token);
    const reach = reachOf(payload.aud, { name: undefined, publicUrl: this.issuer });
    const { sub: account, exp = 0, grant: grantId, scope, client_id: clientId } = payload;
    if (
      !reach ||
      account === undefined ||
      typeof grantId !== 'string' ||
      typeof clientId !== 'string'
    ) {
      throw new JwtRefused('the token is for another audience');
    }
    const given = typeof scope === 'string' ? scope.split(' ') : [];
    const scopes = tokenScopes.filter((one) => given.includes(one));
    const client = hashOf(clientId);
    return { grantId, account, client, scopes, reach, expiresAt: exp * 1_000, made: undefined };
  }
}

function publicKey(key: Readonly<Record<string, unknown>>) {
  const text = (name: string): string => String(key[name]);
  return {
    kty: text('kty'),
    crv: text('crv'),
    x: text('x'),
    y: text('y'),
    kid: text('kid'),
    alg: text('alg'),
  };
}
