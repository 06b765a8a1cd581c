import { Injectable } from '@nestjs/common';
import { Clock } from '@app/platform';
import { z } from 'zod';
import { LruMap } from './lru-map.js';

const MAX_KEPT = 10_000;
const claims = z.object({ exp: z.number() });

interface Kept {
  readonly token: string;
  /** In ms since the epoch. */
  readonly expiresAt: number;
}

/**
 * The newest verified JWT of each subject, in memory until it expires: what an authorization server exchanges for a
 * token of a server. It is never sent to a server itself.
 */
@Injectable()
export class CallerTokens {
  private readonly kept = new LruMap<Kept>(MAX_KEPT);

  constructor(private readonly clock: Clock) {}

  /** Only for a token that was verified. */
  keep(subject: string, token: string): void {
    const expiresAt = expiryOf(token);
    if (expiresAt !== undefined) this.kept.set(subject, { token, expiresAt });
  }

  /** Undefined for a caller without a JWT, or when it has expired. */
  of(subject: string): string | undefined {
    const kept = this.kept.get(subject);
    return kept && kept.expiresAt > this.clock.now().getTime() ? kept.token : undefined;
  }
}

function expiryOf(token: string): number | undefined {
  const [, payload = ''] = token.split('.');
  try {
    const read = claims.safeParse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
    return read.success ? read.data.exp * 1_000 : undefined;
  } catch {
    return undefined;
  }
}
