/** Tokens were revoked or have expired; published once this process refuses them. */
export class TokensWithdrawn {
  constructor(
    /** Names of their principals, none of which has another token that was issued. */
    readonly names: readonly string[],
  ) {}
}

/** What OAuth clients were given ended; published once this process refuses them. */
export class ClientGrantsEnded {}
