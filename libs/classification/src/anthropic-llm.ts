import Anthropic from '@anthropic-ai/sdk';
import { ClassificationFailed } from './classification.errors.js';
import {
  type Llm,
  LLM_RETRIES,
  LLM_TIMEOUT_MS,
  type LlmQuestion,
  type LlmSettings,
  MAX_ANSWER_TOKENS,
} from './llm.js';

const TOOL = 'record_skills';

/** Claude; a forced tool call is what holds its answer to the schema. */
export class AnthropicLlm implements Llm {
  readonly name: string;
  private readonly client: Anthropic;

  constructor(private readonly settings: LlmSettings) {
    this.name = `anthropic:${settings.model}`;
    this.client = new Anthropic({
      apiKey: settings.apiKey ?? null,
      ...(settings.url && { baseURL: settings.url }),
      timeout: LLM_TIMEOUT_MS,
      maxRetries: LLM_RETRIES,
    });
  }

  async ask({ system, user, schema }: LlmQuestion, signal: AbortSignal): Promise<unknown> {
    try {
      const answer = await this.client.messages.create(
        {
          model: this.settings.model,
          max_tokens: MAX_ANSWER_TOKENS,
          system,
          messages: [{ role: 'user', content: user }],
          tools: [
            {
              name: TOOL,
              description: 'Records the skills of every tool',
              input_schema: { ...schema, type: 'object' },
            },
          ],
          tool_choice: { type: 'tool', name: TOOL },
        },
        { signal },
      );
      return answer.content.find((block) => block.type === 'tool_use')?.input;
    } catch (error) {
      throw new ClassificationFailed(this.name, reasonOf(error), error);
    }
  }
}

/** Status and kind only: an endpoint's own words may repeat the key it was given. */
function reasonOf(error: unknown): string {
  if (error instanceof Anthropic.APIConnectionTimeoutError) return 'it did not answer in time';
  if (error instanceof Anthropic.APIConnectionError) return 'it cannot be reached';
  if (error instanceof Anthropic.APIError && error.status)
    return `it answered HTTP ${error.status}`;
  return 'its answer cannot be read';
}
