/**
 * Tokens were revoked or have expired, or people of the identity provider may do less than before; published once this
 * process refuses them.
 */
export class TokensWithdrawn {
  constructor(
    /** Of their principals: a token of the same name that is issued later has another subject. */
    readonly subjects: readonly string[],
  ) {}
}

/** What OAuth clients were given ended; published once this process refuses them. */
export class ClientGrantsEnded {}
