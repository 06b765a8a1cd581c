import type { Assignment, Skill } from '../skills/skill.js';

/** The input of a classifier. All texts come from the server and are untrusted. */
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

export interface Classification {
  readonly toolId: number;
  /** Not filtered by confidence. */
  readonly assignments: readonly Assignment[];
  /** A skill that the taxonomy lacks, for review by a human. */
  readonly suggestion?: SuggestedSkill;
}

/** Name prefix of classifiers that run locally. */
export const LOCAL = 'local:';

/** Assigns skills to tools. An abstract class, so that it can be injected by type. */
export abstract class Classifier {
  /** Stored with every result as `classified_by`. */
  abstract readonly name: string;
  abstract readonly batchSize: number;
  abstract readonly concurrency: number;

  /** Answers at once and without the network. */
  get isLocal(): boolean {
    return this.name.startsWith(LOCAL);
  }

  /** Omits tools without a verdict. Throws an AppError when the model cannot be reached. */
  abstract classify(
    tools: readonly ToolToClassify[],
    skills: readonly Skill[],
    signal: AbortSignal,
  ): Promise<readonly Classification[]>;
}
