import type { JsonObject } from '@app/platform';

export interface LlmQuestion {
  /** An identifier for the answer, which the model sees as the name of the tool or schema. */
  readonly name: string;
  readonly system: string;
  readonly user: string;
  /** JSON schema of the answer. */
  readonly schema: JsonObject;
  readonly maxTokens: number;
  /** Retries when the provider is busy or cannot be reached. */
  readonly retries: number;
}

/** An object schema in the form that providers require for strict output. */
export function strictObject(properties: JsonObject): JsonObject {
  return {
    type: 'object',
    properties,
    required: Object.keys(properties),
    additionalProperties: false,
  };
}

/** A hosted language model that answers in JSON. */
export interface Llm {
  /** Provider and model. */
  readonly name: string;
  /** The answer as parsed JSON, not yet validated. Throws LlmFailed. */
  ask(question: LlmQuestion, signal: AbortSignal): Promise<unknown>;
}

export interface LlmSettings {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly model: string;
}

/** Of each attempt. The longest answer has 4,096 tokens. */
export const LLM_LIMITS = { timeoutMs: 60_000, maxAnswerBytes: 4 * 1_048_576 };
