import type { Assignment, Skill } from './skill.js';

/** A tool as a classifier reads it. All texts are the server's and may say anything. */
export interface ToolToClassify {
  readonly id: number;
  readonly name: string;
  readonly description: string;
  readonly parameters: readonly string[];
  readonly server: {
    readonly id: string;
    readonly name: string;
    readonly description: string | null;
  };
}

export interface SuggestedSkill {
  readonly name: string;
  readonly description: string;
}

export interface Verdict {
  readonly toolId: number;
  /** Of any confidence. */
  readonly assignments: readonly Assignment[];
  /** A skill the taxonomy lacks, for a human to review. */
  readonly suggestion?: SuggestedSkill;
}

/** How the names of classifiers begin that ask nobody. */
export const LOCAL = 'local:';

/** Says which skills tools have. A class, so that it can be injected by type. */
export abstract class Classifier {
  /** Told with every result as `classified_by`. */
  abstract readonly name: string;
  abstract readonly batchSize: number;
  abstract readonly concurrency: number;

  /** A tool it has no verdict on is left out. Throws an AppError when it cannot be asked. */
  abstract classify(
    tools: readonly ToolToClassify[],
    skills: readonly Skill[],
    signal: AbortSignal,
  ): Promise<readonly Verdict[]>;
}
