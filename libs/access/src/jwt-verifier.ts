import { Injectable, Logger } from '@nestjs/common';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { Clock, Env, tokenScopes } from '@app/platform';
import { KeysUnavailable } from './access.errors.js';
import type { Principal } from './principal.js';
import { RecentMap } from './recent-map.js';

/** Asymmetric only: with a symmetric one a public key would pass as the secret. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const CLOCK_TOLERANCE_SECONDS = 30;
/** After a failed fetch of the keys, so that requests do not wait for it one after the other. */
const REST_MS = 10_000;
const MAX_REMEMBERED = 10_000;

/** A token that is malformed, expired, of another issuer or audience, or not signed by a known key. */
export class JwtRefused extends Error {}

interface Verified {
  readonly principal: Principal;
  readonly expiresAt: number;
}

/** Tokens of an identity provider (`MCP_AGGREGATOR_JWKS_URL`); a verified one is remembered until it expires. */
@Injectable()
export class JwtVerifier {
  private readonly logger = new Logger('access');
  private readonly verified = new RecentMap<Verified>(MAX_REMEMBERED);
  private readonly issuer:
    | { readonly name: string; readonly audience: string; readonly keys: JWTVerifyGetKey }
    | undefined;

  constructor(
    env: Env,
    private readonly clock: Clock,
  ) {
    const {
      MCP_AGGREGATOR_JWKS_URL: url,
      MCP_AGGREGATOR_JWT_ISSUER: name,
      MCP_AGGREGATOR_JWT_AUDIENCE: audience,
    } = env;
    if (url && name && audience) {
      this.issuer = { name, audience, keys: this.keysFrom(new URL(url)) };
    }
  }

  get isConfigured(): boolean {
    return this.issuer !== undefined;
  }

  /** By the hash of the token; nothing is read or awaited. */
  remembered(hash: string): Principal | undefined {
    const known = this.verified.get(hash);
    if (!known) return undefined;
    if (known.expiresAt <= this.clock.now().getTime()) {
      this.verified.delete(hash);
      return undefined;
    }
    return known.principal;
  }

  async verify(token: string, hash: string): Promise<Principal> {
    if (!this.issuer) throw new JwtRefused('no issuer is configured');
    const { payload } = await jwtVerify(token, this.issuer.keys, {
      issuer: this.issuer.name,
      audience: this.issuer.audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: this.clock.now(),
    }).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? new JwtRefused(error.code) : error;
    });
    const principal = principalOf(payload);
    this.verified.set(hash, { principal, expiresAt: (payload.exp ?? 0) * 1_000 });
    return principal;
  }

  /** The issuer's keys, fetched when needed; while they cannot be fetched, the last ones go on. */
  private keysFrom(url: URL): JWTVerifyGetKey {
    const remote = createRemoteJWKSet(url);
    let failedAt = Number.NEGATIVE_INFINITY;
    return async (header, token) => {
      const now = this.clock.now().getTime();
      if (now - failedAt >= REST_MS) {
        try {
          return await remote(header, token);
        } catch (error) {
          if (isAboutTheToken(error)) throw error;
          failedAt = now;
          this.logger.warn({ err: error }, 'the keys at MCP_AGGREGATOR_JWKS_URL cannot be fetched');
        }
      }
      try {
        return await createLocalJWKSet(remote.jwks() ?? { keys: [] })(header, token);
      } catch (error) {
        // A key that the issuer may have added since: whether it did cannot be known now.
        if (error instanceof errors.JWKSNoMatchingKey) throw new KeysUnavailable(REST_MS / 1_000);
        throw error;
      }
    };
  }
}

function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}

/** Who the token speaks for, as the audit log can hold it, and which of our scopes it carries. */
function principalOf(payload: JWTPayload): Principal {
  const name = [payload.sub, payload['client_id'], payload['azp']].find(
    (claim) => typeof claim === 'string',
  );
  if (name === undefined || !/^\P{Cc}{1,255}$/u.test(name)) {
    throw new JwtRefused('the token names nobody');
  }
  const given = payload['scope'] ?? payload['scp'];
  const words = typeof given === 'string' ? given.split(' ') : given;
  return {
    name,
    scopes: tokenScopes.filter((scope) => Array.isArray(words) && words.includes(scope)),
  };
}
