import { Logger } from '@nestjs/common';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import type { Clock } from '@app/platform';
import { JwtRefused, KeysUnavailable } from './access.errors.js';

/** Asymmetric only: with a symmetric one a public key would pass as the secret. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const CLOCK_TOLERANCE_SECONDS = 30;
/** After a failed fetch of the keys, so that requests do not wait for it one after the other. */
const REST_MS = 10_000;

/** Who signs the tokens. Loaded where one is configured, because of jose. */
export class Issuer {
  private readonly logger = new Logger('access');
  private readonly keys: JWTVerifyGetKey;

  constructor(
    private readonly name: string,
    private readonly audience: string,
    keysUrl: URL,
    private readonly clock: Clock,
  ) {
    this.keys = this.keysFrom(keysUrl);
  }

  /** What a token of this issuer for this audience says; throws JwtRefused for any other. */
  async read(token: string): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, this.keys, {
      issuer: this.name,
      audience: this.audience,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: this.clock.now(),
    }).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? new JwtRefused(error.code) : error;
    });
    return payload;
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
