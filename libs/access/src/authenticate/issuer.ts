import { Logger } from '@nestjs/common';
import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  errors,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { boundedText, type Clock, type Egress } from '@app/platform';
import { JwtRefused, KeysUnavailable } from '../access.errors.js';

/** Asymmetric only: with HMAC a public key could be used as the shared secret. */
const ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
];
const CLOCK_TOLERANCE_SECONDS = 30;
/** Pause after a failed fetch of the keys, so that not every request waits for one. */
const RETRY_AFTER_MS = 10_000;
/** Identity providers have a few keys of a few kB. */
const MAX_KEYS_BYTES = 1_048_576;

export interface IssuerOrigin {
  /** The claim `iss` of its tokens. */
  readonly name: string;
  readonly keysUrl: URL;
  /** That names it, for the log. */
  readonly setting: string;
}

/** Verifies tokens of the configured issuer. Imported only if one is configured, because of jose. */
export class Issuer {
  private readonly logger = new Logger('access');
  private readonly keys: JWTVerifyGetKey;

  constructor(
    private readonly origin: IssuerOrigin,
    private readonly clock: Clock,
    private readonly egress: Egress,
  ) {
    this.keys = this.keysFrom(origin.keysUrl);
  }

  /** The claims of a valid token of this issuer, for whatever audience; throws JwtRefused otherwise. */
  async read(token: string): Promise<JWTPayload> {
    const { payload } = await jwtVerify(token, this.keys, {
      issuer: this.origin.name,
      algorithms: ALGORITHMS,
      requiredClaims: ['exp'],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      currentDate: this.clock.now(),
    }).catch((error: unknown) => {
      throw error instanceof errors.JOSEError ? new JwtRefused(error.code) : error;
    });
    return payload;
  }

  /** The issuer's keys, fetched when needed; while they cannot be fetched, the last ones are used. */
  private keysFrom(url: URL): JWTVerifyGetKey {
    const remote = createRemoteJWKSet(url, {
      [customFetch]: (address, request) => this.fetchKeys(address, request),
    });
    let failedAt = Number.NEGATIVE_INFINITY;
    return async (header, token) => {
      const now = this.clock.monotonic();
      if (now - failedAt >= RETRY_AFTER_MS) {
        try {
          return await remote(header, token);
        } catch (error) {
          if (isAboutTheToken(error)) throw error;
          failedAt = now;
          this.logger.warn({ err: error, setting: this.origin.setting }, 'access.keys_not_fetched');
        }
      }
      try {
        return await createLocalJWKSet(remote.jwks() ?? { keys: [] })(header, token);
      } catch (error) {
        // The issuer may have added this key since the last fetch.
        if (error instanceof errors.JWKSNoMatchingKey)
          throw new KeysUnavailable(RETRY_AFTER_MS / 1_000);
        throw error;
      }
    };
  }

  /** Through the egress policy, which checks the resolved address of every connection. */
  private async fetchKeys(address: string, { headers, signal }: KeysRequest): Promise<Response> {
    const [undici, agent] = await Promise.all([import('undici'), this.egress.agent()]);
    try {
      const answer = await undici.fetch(address, {
        headers: Object.fromEntries(headers),
        signal,
        redirect: 'manual',
        dispatcher: agent,
      });
      const text = await boundedText(answer.body, new URL(address).host, MAX_KEYS_BYTES);
      return new Response(text, { status: answer.status });
    } finally {
      await agent.destroy();
    }
  }
}

/** The options that jose passes to `fetch`. */
interface KeysRequest {
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

function isAboutTheToken(error: unknown): boolean {
  return (
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys ||
    error instanceof errors.JOSENotSupported
  );
}
