import type { TokenScope } from '@app/platform';
import type { PinnedView } from '../authenticate/principal.js';
import { randomBytes } from 'node:crypto';

/** As for configured tokens, so that no name can look like that of a JWT or of the service itself. */
export const TOKEN_NAME = /^(?!(?:[Ss]ystem|[Aa]nonymous)$)[A-Za-z0-9_.@-]{1,100}$/;
export const MAX_ISSUED_TOKENS = 1_000;
/** Topic of messages between replicas. */
export const TOKENS_CHANGED = 'tokens of callers';

/** A token that was issued by request; the secret itself is stored nowhere. */
export interface IssuedToken {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly TokenScope[];
  /** The only view that it can use; null for those that are granted to it. */
  readonly view: PinnedView | null;
  readonly hash: string;
  /** The hash before the last rotation, which is accepted until then. */
  readonly previousHash: string | null;
  readonly previousUntil: Date | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  /** To the minute, of any replica. */
  readonly lastUsedAt: Date | null;
}

/** 256 random bits; the prefix lets secret scanners find leaked tokens. */
export function newSecret(): string {
  return `switchboard_${randomBytes(32).toString('base64url')}`;
}

/** The hashes that are accepted, each with the time until which it is. */
export function acceptedHashes({
  hash,
  previousHash,
  previousUntil,
  expiresAt,
}: Pick<IssuedToken, 'hash' | 'previousHash' | 'previousUntil' | 'expiresAt'>): readonly (readonly [
  hash: string,
  until: number,
])[] {
  const end = expiresAt?.getTime() ?? Infinity;
  const previous =
    previousHash === null ? [] : [[previousHash, earlier(end, previousUntil)] as const];
  return [[hash, end], ...previous];
}

function earlier(end: number, until: Date | null): number {
  return Math.min(end, until?.getTime() ?? -Infinity);
}
