import { Injectable } from '@nestjs/common';
import { Clock, ClusterKeys } from '@app/platform';
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { LruMap } from './lru-map.js';

const MAX_KEPT = 10_000;
/** A request between replicas has its pass in the same 16 kB of headers. */
const MAX_SEALED_CHARS = 6_000;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const claims = z.object({ exp: z.number() });

interface Kept {
  readonly token: string;
  /** In ms since the epoch. */
  readonly expiresAt: number;
  sealed?: string | undefined;
}

/**
 * The newest verified JWT of each subject, in memory until it expires: what an authorization server exchanges for a
 * token of a server. It is never sent to a server itself.
 */
@Injectable()
export class CallerTokens {
  private readonly kept = new LruMap<Kept>(MAX_KEPT);

  private readonly keys: readonly [Buffer, ...Buffer[]];

  constructor(
    private readonly clock: Clock,
    keys: ClusterKeys,
  ) {
    this.keys = keys.derive('tokens of callers');
  }

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

  /** For another replica on this database, which cannot read it from a pass; undefined for a caller without a JWT. */
  sealed(subject: string): string | undefined {
    const token = this.of(subject);
    const kept = this.kept.get(subject);
    if (token === undefined || !kept || token.length > MAX_SEALED_CHARS) return undefined;
    return (kept.sealed ??= sealed(token, subject, this.keys[0]));
  }

  /** What another replica has sealed, of a request whose pass was redeemed; an older one than that kept is ignored. */
  keepSealed(subject: string, text: string): void {
    const token = this.keys.map((key) => opened(text, subject, key)).find((one) => one);
    const expiresAt = token === undefined ? undefined : expiryOf(token);
    if (token === undefined || expiresAt === undefined) return;
    if (expiresAt > (this.kept.get(subject)?.expiresAt ?? 0)) {
      this.kept.set(subject, { token, expiresAt });
    }
  }
}

function sealed(token: string, subject: string, key: Buffer): string {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(subject));
  const body = [nonce, cipher.update(token), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat(body).toString('base64url');
}

function opened(text: string, subject: string, key: Buffer): string | undefined {
  const bytes = Buffer.from(text, 'base64url');
  if (bytes.length <= NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES))
    .setAAD(Buffer.from(subject))
    .setAuthTag(bytes.subarray(-TAG_BYTES));
  try {
    const token = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([token, decipher.final()]).toString();
  } catch {
    return undefined;
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
