/** A server was registered: its row is written. */
export class ServerRegistered {
  constructor(readonly serverId: string) {}
}

/** Fields of a server's row changed by request; with its name, its tools' names in the rows changed too. */
export class ServerUpdated {
  constructor(
    readonly serverId: string,
    readonly fields: readonly string[],
  ) {}
}

/** How a server is reached changed: an open session uses the old way. */
export class ServerConnectionChanged {
  constructor(readonly serverId: string) {}
}

/** A server and, by cascade, its tools and history are gone from the rows. */
export class ServerRemoved {
  constructor(
    readonly serverId: string,
    readonly name: string,
  ) {}
}

/** A server went from one status to another; the row says the same. */
export class ServerStatusChanged {
  constructor(
    readonly serverId: string,
    readonly from: string,
    readonly to: string,
  ) {}
}
