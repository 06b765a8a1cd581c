import Anthropic from '@anthropic-ai/sdk';
import { failureReason } from './failure-reason.js';
import { type Llm, LLM_TIMEOUT_MS, type LlmQuestion, type LlmSettings } from './llm.js';
import { LlmFailed } from './llm.errors.js';

/** Claude; a forced tool call makes the answer match the schema. */
export class AnthropicLlm implements Llm {
  readonly name: string;
  private readonly client: Anthropic;

  constructor(private readonly settings: LlmSettings) {
    this.name = `anthropic:${settings.model}`;
    this.client = new Anthropic({
      apiKey: settings.apiKey ?? null,
      ...(settings.url && { baseURL: settings.url }),
      timeout: LLM_TIMEOUT_MS,
    });
  }

  async ask(question: LlmQuestion, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.client.messages.create(
        {
          model: this.settings.model,
          max_tokens: question.maxTokens,
          system: question.system,
          messages: [{ role: 'user', content: question.user }],
          tools: [{ name: question.name, input_schema: { ...question.schema, type: 'object' } }],
          tool_choice: { type: 'tool', name: question.name },
        },
        { signal, maxRetries: question.retries },
      );
      return answer.content.find((block) => block.type === 'tool_use')?.input;
    } catch (error) {
      throw new LlmFailed(this.name, failureReason(error), error);
    }
  }
}
