import OpenAI from 'openai';
import { failureReason } from './failure-reason.js';
import { type Llm, LLM_TIMEOUT_MS, type LlmQuestion, type LlmSettings } from './llm.js';
import { LlmFailed } from './llm.errors.js';

/** OpenAI, or any endpoint with its chat API and JSON schema output. */
export class OpenAiLlm implements Llm {
  readonly name: string;
  private readonly client: OpenAI;

  constructor(private readonly settings: LlmSettings) {
    this.name = `openai:${settings.model}`;
    this.client = new OpenAI({
      // Local endpoints need no key, but the SDK requires a string.
      apiKey: settings.apiKey ?? 'none',
      ...(settings.url && { baseURL: settings.url }),
      timeout: LLM_TIMEOUT_MS,
    });
  }

  async ask(question: LlmQuestion, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.client.chat.completions.create(
        {
          model: this.settings.model,
          max_completion_tokens: question.maxTokens,
          messages: [
            { role: 'system', content: question.system },
            { role: 'user', content: question.user },
          ],
          response_format: {
            type: 'json_schema',
            json_schema: { name: question.name, strict: true, schema: question.schema },
          },
        },
        { signal, maxRetries: question.retries },
      );
      return JSON.parse(answer.choices[0]?.message.content ?? '');
    } catch (error) {
      throw new LlmFailed(this.name, failureReason(error), error);
    }
  }
}
