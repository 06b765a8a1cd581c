/** Tokens were revoked or have expired; published once this process refuses them. */
export class TokensWithdrawn {
  constructor(
    /** Of their principals: a token of the same name that is issued later has another subject. */
    readonly subjects: readonly string[],
  ) {}
}

/** What OAuth clients were given ended; published once this process refuses them. */
export class ClientGrantsEnded {}
