/** A session to a server is open and initialised; its tools may be listed. */
export class SessionOpened {
  constructor(readonly serverId: string) {}
}

/** A session ended without anybody asking for it. */
export class SessionLost {
  constructor(
    readonly serverId: string,
    readonly reason: string,
  ) {}
}

/** A server says that its list of tools is no longer what it was. */
export class ToolListChanged {
  constructor(readonly serverId: string) {}
}
