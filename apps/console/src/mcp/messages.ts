import type { JsonObject } from './json.js';

/** A question of the server during a call (`elicitation/create`, `sampling/createMessage`). */
export interface Question {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
}

/** What the page answers: `{ action, content }` of an elicitation, or a message of the assistant. */
export type Answers = Readonly<Record<string, JsonObject>>;

export interface Progress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

export interface LogLine {
  readonly level: string;
  readonly logger: string | undefined;
  readonly data: unknown;
}

/** The service or the server refused the call; a result with `isError` is an answer instead. */
export class RpcFailure extends Error {
  constructor(
    message: string,
    readonly code: number | undefined,
    readonly data: unknown,
  ) {
    super(message);
  }
}
