import type { TokenScope } from '@app/platform';
import type { LoginRefusal } from '../access.errors.js';

/** What an identity provider said of someone who logs in. */
export interface ProvedPerson {
  readonly issuer: string;
  /** Of the issuer: never given to another. */
  readonly subject: string;
  /** For people to read; proves nothing. */
  readonly label: string;
  /** None for one who may not use this service (any more). */
  readonly scopes: readonly TokenScope[];
  readonly groups: readonly string[];
  /** Why there is no scope. */
  readonly refusal?: LoginRefusal;
}

/** An account at this service of someone who logs in at the identity provider. */
export interface ProviderPerson extends Omit<ProvedPerson, 'issuer' | 'refusal'> {
  readonly id: string;
  /** In the place of the hash of a token: no token has it. */
  readonly sessionHash: string;
  readonly endsAt: Date;
}

/** As administrators see an account, also one that is not accepted now. */
export interface ListedPerson extends Omit<ProvedPerson, 'refusal'> {
  readonly id: string;
  readonly isActive: boolean;
  readonly createdAt: Date;
  readonly lastLoginAt: Date;
  readonly endsAt: Date;
}

/** Rows of all issuers. */
export const MAX_PEOPLE = 10_000;
