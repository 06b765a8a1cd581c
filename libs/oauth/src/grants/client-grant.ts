import type { TokenScope } from '@app/platform';

/** What a person gave a client; all of its tokens end with it. */
export interface ClientGrant {
  readonly id: string;
  /** Of the token that the person logged in with (`Holder.account`). */
  readonly account: string;
  /** The name of the caller in the audit log, when it was given. */
  readonly person: string;
  readonly client: GrantedClient;
  readonly scopes: readonly TokenScope[];
  /** '' for the whole service, else the path of an MCP endpoint. */
  readonly resource: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
  readonly expiresAt: Date;
}

export interface GrantedClient {
  readonly id: string;
  /** As the client calls itself. */
  readonly name: string | null;
  /** The host that publishes its metadata; null for a client that registered by itself, as anyone can. */
  readonly domain: string | null;
  /** Host, or scheme, of the address that gets the codes. */
  readonly redirectHost: string;
}

/** A grant ends when its client has not come back for this long. */
export const GRANT_IDLE_DAYS = 30;
/** Grants of one account; a further one ends the one that was unused for longest. */
export const MAX_GRANTS_OF_ACCOUNT = 200;
/** Topic of messages between replicas. */
export const GRANTS_CHANGED = 'grants of clients';
