/** Tools of these servers got other skills, or lost theirs; the rows say which. */
export class ToolsClassified {
  constructor(
    readonly serverIds: readonly string[],
    readonly toolIds: readonly number[],
  ) {}
}

/** A skill was added, changed or switched off; the rows say which. */
export class SkillsChanged {
  constructor(readonly skillId: string) {}
}
