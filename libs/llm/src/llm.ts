import type { JsonObject } from '@app/platform';

export interface LlmQuestion {
  /** What the answer is, as an identifier: models are told the name of what they fill in. */
  readonly name: string;
  readonly system: string;
  readonly user: string;
  /** JSON schema the answer has to follow. */
  readonly schema: JsonObject;
  readonly maxTokens: number;
  /** How often it is asked again when the provider is busy. The waits between do not end with the signal. */
  readonly retries: number;
}

/** A schema in the strict form that providers hold their models to. */
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
  /** The answer as parsed JSON, not yet checked. Throws LlmFailed. */
  ask(question: LlmQuestion, signal: AbortSignal): Promise<unknown>;
}

export interface LlmSettings {
  readonly url: string | undefined;
  readonly apiKey: string | undefined;
  readonly model: string;
}

export const LLM_TIMEOUT_MS = 60_000;
