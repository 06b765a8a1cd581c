/** A server received OAuth credentials after a person consented; published after they are stored. */
export class ServerAuthorized {
  constructor(readonly serverId: string) {}
}
