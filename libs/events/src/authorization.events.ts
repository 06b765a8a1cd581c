/** A server received OAuth credentials after a person consented; published after they are stored. */
export class ServerAuthorized {
  constructor(readonly serverId: string) {}
}

/** A person gave, replaced or withdrew credentials for a server; published after the row is written. */
export class PersonConnectionChanged {
  constructor(
    readonly serverId: string,
    readonly subject: string,
  ) {}
}
