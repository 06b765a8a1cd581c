import { Injectable, Logger } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { type ConfiguredToken, Env } from '@app/platform';
import { adminToken, tokenHash } from './admin-token.js';
import type { Principal } from './principal.js';
import { TokenStore } from './token.store.js';

/** The configured tokens, or the admin token of a first start: in memory for requests, and as rows. */
@Injectable()
export class Tokens {
  private readonly logger = new Logger('access');
  private readonly known = new Map<string, { digest: Buffer; principal: Principal }>();
  private newToken: string | undefined;

  constructor(
    private readonly env: Env,
    private readonly store: TokenStore,
  ) {}

  /** Called only by a process that serves requests: other commands must not change the rows. */
  async load(): Promise<void> {
    const tokens = await this.configured();
    await this.store.replaceAll(tokens);
    for (const { name, scopes, hash } of tokens) {
      const digest = Buffer.from(hash, 'hex');
      this.known.set(keyOf(digest.toString('latin1')), { digest, principal: { name, scopes } });
    }
  }

  /** By the SHA-256 of the token as a latin1 string, which costs half as much as a buffer. */
  find(hash: string): Principal | undefined {
    const candidate = this.known.get(keyOf(hash));
    if (!candidate || !timingSafeEqual(candidate.digest, Buffer.from(hash, 'latin1'))) {
      return undefined;
    }
    return candidate.principal;
  }

  /** The admin token if this start created it; undefined from the second call on. */
  takeNewToken(): string | undefined {
    const token = this.newToken;
    this.newToken = undefined;
    return token;
  }

  private async configured(): Promise<readonly ConfiguredToken[]> {
    const { MCP_AGGREGATOR_TOKENS: tokens = [], MCP_AGGREGATOR_JWKS_URL: jwks } = this.env;
    if (tokens.length > 0 || jwks) return tokens;
    const { file, token, isNew, isExposed } = await adminToken(this.env.MCP_AGGREGATOR_DATA_DIR);
    if (isNew) this.newToken = token;
    this.logger.log(
      { file, hint: 'no tokens are configured; the admin token is in this file' },
      'access.admin_token_made',
    );
    if (isExposed)
      this.logger.warn(
        { file, hint: 'other users of this machine can read this file' },
        'access.admin_token_exposed',
      );
    return [{ name: 'first-start-admin', scopes: ['admin'], hash: tokenHash(token) }];
  }
}

/** A prefix for the lookup; the whole hash is then compared in constant time. */
function keyOf(hash: string): string {
  return hash.slice(0, 8);
}
