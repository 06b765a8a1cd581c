import type { JsonObject } from '@app/platform';

export interface LlmQuestion {
  readonly system: string;
  readonly user: string;
  /** JSON schema the answer has to follow. */
  readonly schema: JsonObject;
}

/** A hosted language model, as far as classification needs one. */
export interface Llm {
  readonly name: string;
  /** The answer as parsed JSON, not yet checked. Throws ClassificationFailed. */
  ask(question: LlmQuestion, signal: AbortSignal): Promise<unknown>;
}

export interface LlmSettings {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly model: string;
}

export const LLM_TIMEOUT_MS = 60_000;
/** RULINGS R27: once more, then later. */
export const LLM_RETRIES = 1;
export const MAX_ANSWER_TOKENS = 4_096;
