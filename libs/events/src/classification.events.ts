/** Tools of these servers gained or lost skills; the rows have the details. */
export class ToolsClassified {
  constructor(
    readonly serverIds: readonly string[],
    readonly toolIds: readonly number[],
  ) {}
}

/** A skill was added, changed or switched off; the row has the details. */
export class SkillsChanged {
  constructor(readonly skillId: string) {}
}
