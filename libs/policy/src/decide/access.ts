import { type Grant, type GrantLevel } from '../grants/grant.js';
import type { Offer } from '../views/offer.js';
import type { View } from '../views/view.js';

/** What allows a principal to use a view. */
export type AccessReason =
  | { readonly kind: 'admin' }
  | { readonly kind: 'pinned' }
  | { readonly kind: 'grant'; readonly grant: Grant };

/** That a principal may use a view, and how far. */
export interface Access {
  readonly view: View;
  /** Still limited by the scopes of the principal. */
  readonly level: GrantLevel;
  readonly offer: Offer;
  readonly reason: AccessReason;
  /** Of each principal; null for no limit but that of the service. */
  readonly callsPerMinute: number | null;
  /** In ms since the epoch. */
  readonly until: number;
}
