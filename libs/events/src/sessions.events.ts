/** A session to a server is open and initialised, or was renewed; its tools can be listed. */
export class SessionOpened {
  constructor(readonly serverId: string) {}
}

/** A server announced that its list of tools changed. */
export class ToolListChanged {
  constructor(readonly serverId: string) {}
}
