import { z } from 'zod';
import { type Llm, LLM_LIMITS, type LlmQuestion, type LlmSettings } from './llm.js';
import { failureReason, LlmFailed } from './llm.errors.js';
import { endpointUrl, ModelRequests } from './model-requests.js';

const ADDRESS = 'https://api.anthropic.com';
const VERSION = '2026-10-21';

const answerSchema = z.object({
  content: z.array(z.object({ type: z.string(), input: z.unknown().optional() })),
});

/** Claude; a forced tool call makes the answer match the schema. */
export class AnthropicLlm implements Llm {
  readonly name: string;
  private readonly requests: ModelRequests;

  constructor(private readonly settings: LlmSettings) {
    const { url = ADDRESS, apiKey, model } = settings;
    this.name = `anthropic:${model}`;
    this.requests = new ModelRequests({
      ...LLM_LIMITS,
      url: endpointUrl(url, '/v1/messages'),
      headers: {
        'anthropic-version': VERSION,
        ...(apiKey !== undefined && { 'x-api-key': apiKey }),
      },
    });
  }

  async ask(question: LlmQuestion, signal: AbortSignal): Promise<unknown> {
    const body = {
      model: this.settings.model,
      max_tokens: question.maxTokens,
      system: question.system,
      messages: [{ role: 'user', content: question.user }],
      tools: [{ name: question.name, input_schema: question.schema }],
      tool_choice: { type: 'tool', name: question.name },
    };
    try {
      const { retries } = question;
      const { content } = await this.requests.post(body, answerSchema, { retries, signal });
      return content.find((block) => block.type === 'tool_use')?.input;
    } catch (error) {
      throw new LlmFailed(this.name, failureReason(error));
    }
  }
}
