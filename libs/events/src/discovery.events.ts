/** Discovery wrote a server's tools; ids are those of the rows. Published also when nothing changed. */
export class ToolsDiscovered {
  constructor(
    readonly serverId: string,
    readonly added: readonly number[],
    readonly changed: readonly number[],
    readonly removed: readonly number[],
  ) {}
}

/** A discovery started, wrote a batch of tools, ended or failed. */
export class DiscoveryProgressed {
  constructor(
    readonly serverId: string,
    readonly phase: string,
    readonly written: number,
    /** Tools the server listed; 0 until it has. */
    readonly listed: number,
  ) {}
}
