/** The catalogue of this process shows a new snapshot, `Catalogue.current`. Ids are row ids. */
export class CatalogueReplaced {
  constructor(
    /** Servers that were added, removed or changed. */
    readonly serverIds: readonly string[],
    /** Tools that are new, or whose definition, name or server changed. */
    readonly written: readonly number[],
    /** Tools of which only the skills changed. */
    readonly classified: readonly number[],
    readonly removed: readonly number[],
    /** Of the changed servers those that are disconnected or disconnecting. */
    readonly withdrawn: readonly string[] = [],
  ) {}
}
