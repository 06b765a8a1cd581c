import { Injectable, Logger } from '@nestjs/common';
import { timingSafeEqual } from 'node:crypto';
import { type ConfiguredToken, Env } from '@app/platform';
import { adminToken, tokenHash } from './admin-token.js';
import type { Principal } from './principal.js';
import { TokenStore } from './token.store.js';

/** The configured tokens, or the one of a first start, in memory for every request and as rows. */
@Injectable()
export class Tokens {
  private readonly logger = new Logger('access');
  private readonly known = new Map<string, { digest: Buffer; principal: Principal }>();
  private newToken: string | undefined;

  constructor(
    private readonly env: Env,
    private readonly store: TokenStore,
  ) {}

  /** Called by what answers requests; a command on the same database leaves the tokens as they are. */
  async load(): Promise<void> {
    const tokens = await this.configured();
    await this.store.replaceAll(tokens);
    for (const { name, scopes, hash } of tokens) {
      const digest = Buffer.from(hash, 'hex');
      this.known.set(keyOf(digest.toString('latin1')), { digest, principal: { name, scopes } });
    }
  }

  /** By the SHA-256 of the token, one character a byte: that costs half of what a buffer does. */
  find(hash: string): Principal | undefined {
    const candidate = this.known.get(keyOf(hash));
    if (!candidate || !timingSafeEqual(candidate.digest, Buffer.from(hash, 'latin1'))) {
      return undefined;
    }
    return candidate.principal;
  }

  /** The admin token if this start made it; only the first call gets it. */
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
    this.logger.log({ file }, 'no tokens are configured; the admin token is in this file');
    if (isExposed) this.logger.warn({ file }, 'other users of this machine can read this file');
    return [{ name: 'first-start-admin', scopes: ['admin'], hash: tokenHash(token) }];
  }
}

/** Enough to find a token; the whole hash is then compared in constant time. */
function keyOf(hash: string): string {
  return hash.slice(0, 8);
}
