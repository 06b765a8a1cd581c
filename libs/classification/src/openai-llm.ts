import OpenAI from 'openai';
import { ClassificationFailed } from './classification.errors.js';
import {
  type Llm,
  LLM_RETRIES,
  LLM_TIMEOUT_MS,
  type LlmQuestion,
  type LlmSettings,
  MAX_ANSWER_TOKENS,
} from './llm.js';

/** OpenAI, or any endpoint that speaks its chat API with JSON schemas. */
export class OpenAiLlm implements Llm {
  readonly name: string;
  private readonly client: OpenAI;

  constructor(private readonly settings: LlmSettings) {
    this.name = `openai:${settings.model}`;
    this.client = new OpenAI({
      // Local endpoints want none, but the SDK insists on a text.
      apiKey: settings.apiKey ?? 'none',
      ...(settings.url && { baseURL: settings.url }),
      timeout: LLM_TIMEOUT_MS,
      maxRetries: LLM_RETRIES,
    });
  }

  async ask({ system, user, schema }: LlmQuestion, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.client.chat.completions.create(
        {
          model: this.settings.model,
          max_completion_tokens: MAX_ANSWER_TOKENS,
          messages: [
            { role: 'system', content: system },
            { role: 'user', content: user },
          ],
          response_format: {
            type: 'json_schema',
            json_schema: { name: 'skills', strict: true, schema },
          },
        },
        { signal },
      );
      return JSON.parse(answer.choices[0]?.message.content ?? '');
    } catch (error) {
      throw new ClassificationFailed(this.name, reasonOf(error), error);
    }
  }
}

/** Status and kind only: an endpoint's own words may repeat the key it was given. */
function reasonOf(error: unknown): string {
  if (error instanceof OpenAI.APIConnectionTimeoutError) return 'it did not answer in time';
  if (error instanceof OpenAI.APIConnectionError) return 'it cannot be reached';
  if (error instanceof OpenAI.APIError && error.status) return `it answered HTTP ${error.status}`;
  return 'its answer cannot be read';
}
