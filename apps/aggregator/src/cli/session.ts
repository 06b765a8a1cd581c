import type { RestClient } from './rest-client.js';
import { coloured, type Screen } from './screen.js';

/** The result of a command: JSON for programs, text for people. */
export interface CommandResult {
  readonly json: unknown;
  /** `json` as the service wrote it, where `JSON.stringify` may write it differently. */
  readonly jsonText?: string;
  readonly text: string | ((screen: Screen) => string);
  readonly exitCode?: number;
}

export interface Output {
  readonly isJson: boolean;
  readonly screen: Screen;
  /** Prints an outcome, or a part of one that has no end. */
  readonly add: (part: Omit<CommandResult, 'exitCode'>) => void;
}

export type Action = (rest: RestClient, output: Output) => Promise<CommandResult | undefined>;

/** Runs the action of a command and prints its outcome. */
export type Perform = (action: Action) => Promise<void>;

export function textOf({ text }: Pick<CommandResult, 'text'>, screen: Screen): string {
  return typeof text === 'string' ? text : text(screen);
}

/** A word that says how something is, in its colour. */
export function state(word: string, screen: Screen): string {
  return coloured(word, word, screen);
}
