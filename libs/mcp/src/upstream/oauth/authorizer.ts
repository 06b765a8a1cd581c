/** A server's answer 401 or 403, and what it was sent. */
export interface Refusal {
  readonly status: number;
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  /** The `Authorization` header of the request. */
  readonly sent: string | undefined;
}

/** Where a wire gets the credentials of its requests, and the only thing it knows about OAuth. */
export interface Authorizer {
  /** The `Authorization` header from now on. */
  readonly header: string | undefined;
  /** To be awaited before a request; renews what is about to expire. */
  ready(): Promise<void>;
  /** Whether the refused request may be sent once more; throws when a person has to consent first. */
  renew(refusal: Refusal): Promise<boolean>;
}
