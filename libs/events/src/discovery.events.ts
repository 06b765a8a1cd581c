/** Definitions of a server differ from what was approved and wait for a decision; published after they are withheld. */
export class ToolQuarantined {
  constructor(
    readonly serverId: string,
    readonly server: string,
    /** Names at the server. */
    readonly tools: readonly string[],
    /** Codes of what was found in the changes. */
    readonly findings: readonly string[],
  ) {}
}

/** A person approved definitions of a server; published after the rows of its tools are written. */
export class ToolApproved {
  constructor(
    readonly serverId: string,
    readonly toolIds: readonly number[],
  ) {}
}

/** Discovery wrote a server's tools; ids are those of the rows. Published also when nothing changed. */
export class ToolsDiscovered {
  constructor(
    readonly serverId: string,
    readonly added: readonly number[],
    readonly changed: readonly number[],
    readonly removed: readonly number[],
  ) {}
}
