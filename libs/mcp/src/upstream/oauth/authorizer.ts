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
  /** Renews what is about to expire; a request waits for that, if there is anything to wait for. */
  ready(): Promise<void> | undefined;
  /** Whether the refused request may be sent once more; throws when a person has to consent first. */
  renew(refusal: Refusal): Promise<boolean>;
}
