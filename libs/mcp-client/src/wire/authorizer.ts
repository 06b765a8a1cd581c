/** A 401 or 403 of a server, with the credentials that were sent. */
export interface Refusal {
  readonly status: number;
  /** The `WWW-Authenticate` header. */
  readonly challenge: string | undefined;
  /** The `Authorization` header of the request. */
  readonly sent: string | undefined;
}

/** Gives a wire the credentials of its requests; the only thing a wire knows about OAuth. */
export interface Authorizer {
  /** The current `Authorization` header. */
  readonly header: string | undefined;
  /** Renews a token that is about to expire; a request waits for the promise, if there is one. */
  ready(): Promise<void> | undefined;
  /** Whether the refused request may be sent once more; throws when a person has to consent first. */
  renew(refusal: Refusal): Promise<boolean>;
}
