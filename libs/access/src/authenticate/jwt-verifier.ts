import { Injectable } from '@nestjs/common';
import type { JWTPayload } from 'jose';
import { Clock, Egress, Env, type TokenScope, tokenScopes } from '@app/platform';
import { JwtRefused } from '../access.errors.js';
import { claimAt, groupsIn, scopesOfRoles, subjectsOf, wordsIn } from './claims.js';
import { type IdTokens, openIssuer } from './open-issuer.js';
import { type Principal, principalName, subjectIn } from './principal.js';
import { LruMap } from './lru-map.js';
import { type TokenReach, reaches, reachOf } from './oauth-metadata.js';

const MAX_REMEMBERED = 10_000;

/** Names of claims. */
interface Claims {
  readonly groups: string;
  readonly roles: string | undefined;
}

interface Verified {
  readonly principal: Principal;
  readonly expiresAt: number;
  readonly reach: TokenReach;
}

/** JWTs that this service issues itself; libs/oauth verifies them. */
export interface OwnJwts {
  readonly issuer: string;
  remembered(hash: string, url: string): Principal | undefined;
  /** Rejects with JwtRefused. */
  verify(token: string, hash: string, url: string): Promise<Principal>;
}

/** JWTs of an identity provider (`MCP_AGGREGATOR_JWKS_URL`), or of this service; a verified one is cached until it expires. */
@Injectable()
export class JwtVerifier {
  private readonly verified = new LruMap<Verified>(MAX_REMEMBERED);
  private readonly issuer: Promise<IdTokens> | undefined;
  private own: OwnJwts | undefined;
  private readonly claims: Claims;
  private readonly audience: Parameters<typeof reachOf>[1];

  constructor(
    private readonly env: Env,
    private readonly clock: Clock,
    egress: Egress,
  ) {
    const {
      MCP_AGGREGATOR_JWKS_URL: url,
      MCP_AGGREGATOR_JWT_ISSUER: name,
      MCP_AGGREGATOR_JWT_AUDIENCE: audience,
    } = env;
    this.claims = {
      groups: env.MCP_AGGREGATOR_JWT_GROUPS_CLAIM,
      roles: env.MCP_AGGREGATOR_JWT_ROLES_CLAIM,
    };
    this.audience = { name: audience, publicUrl: env.MCP_AGGREGATOR_PUBLIC_URL };
    if (url && name && audience) {
      const origin = { name, keysUrl: new URL(url), setting: 'MCP_AGGREGATOR_JWKS_URL' };
      this.issuer = openIssuer(origin, clock, egress);
    }
  }

  /** The settings allow either these or an identity provider. */
  adopt(own: OwnJwts): void {
    this.own = own;
  }

  get isConfigured(): boolean {
    return this.issuerName !== undefined;
  }

  /** Where clients get their tokens; undefined if no JWTs are accepted. */
  get issuerName(): string | undefined {
    return this.own?.issuer ?? (this.issuer && this.env.MCP_AGGREGATOR_JWT_ISSUER);
  }

  /** By the hash of the token, synchronously, for a request to this URL. */
  remembered(hash: string, url: string): Principal | undefined {
    if (this.own) return this.own.remembered(hash, url);
    const known = this.verified.get(hash);
    if (!known) return undefined;
    if (known.expiresAt <= this.clock.now().getTime()) {
      this.verified.delete(hash);
      return undefined;
    }
    return reaches(known.reach, url) ? known.principal : undefined;
  }

  async verify(token: string, hash: string, url: string): Promise<Principal> {
    if (this.own) return this.own.verify(token, hash, url);
    if (!this.issuer) throw new JwtRefused('no issuer is configured');
    const payload = await (await this.issuer).read(token);
    const reach = reachOf(payload.aud, this.audience);
    if (!reach || !reaches(reach, url)) throw new JwtRefused('the token is for another audience');
    const principal = principalOf(payload, this.claims);
    this.verified.set(hash, { principal, expiresAt: (payload.exp ?? 0) * 1_000, reach });
    return principal;
  }
}

/** The subject of the token, else its client, with those of its scopes that exist here. */
function principalOf(payload: JWTPayload, claims: Claims): Principal {
  const client = [payload['client_id'], payload['azp']].find((claim) => typeof claim === 'string');
  const name =
    typeof payload.sub === 'string'
      ? principalName('jwt', payload.sub)
      : client !== undefined && principalName('jwt-client', client);
  if (!name) throw new JwtRefused('the token has no usable sub, client_id or azp');
  const subject =
    payload.sub === undefined
      ? subjectIn('jwt-client', client ?? '', payload.iss)
      : subjectIn('jwt', payload.sub, payload.iss);
  return {
    name,
    scopes: scopesOf(payload, claims.roles),
    subjects: subjectsOf(payload.sub, client, groupsIn(claimAt(payload, claims.groups))),
    subject,
  };
}

/** Scopes are what the client may do, roles what its user is; one claim that names them is enough. */
function scopesOf(payload: JWTPayload, rolesClaim: string | undefined): readonly TokenScope[] {
  const scopes = wordsIn(payload['scope'] ?? payload['scp']);
  const ofRoles = scopesOfRoles(wordsIn(claimAt(payload, rolesClaim)));
  return tokenScopes.filter((scope) => scopes.includes(scope) || ofRoles.includes(scope));
}
