/** Discovery wrote a server's tools; ids are those of the rows. Published also when nothing changed. */
export class ToolsDiscovered {
  constructor(
    readonly serverId: string,
    readonly added: readonly number[],
    readonly changed: readonly number[],
    readonly removed: readonly number[],
  ) {}
}
