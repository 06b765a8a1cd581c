import { z } from 'zod';
import { type Llm, LLM_LIMITS, type LlmQuestion, type LlmSettings } from './llm.js';
import { failureReason, LlmFailed } from './llm.errors.js';
import { endpointUrl, ModelRequests, readAs } from './model-requests.js';

const ADDRESS = 'https://api.openai.com/v1';

const answerSchema = z.object({
  choices: z.array(z.object({ message: z.object({ content: z.string().nullish() }) })),
});

/** OpenAI, or any endpoint with its chat API and JSON schema output. */
export class OpenAiLlm implements Llm {
  readonly name: string;
  private readonly requests: ModelRequests;

  constructor(private readonly settings: LlmSettings) {
    const { url = ADDRESS, apiKey, model } = settings;
    this.name = `openai:${model}`;
    this.requests = new ModelRequests({
      ...LLM_LIMITS,
      url: endpointUrl(url, '/chat/completions'),
      headers: bearer(apiKey),
    });
  }

  async ask(question: LlmQuestion, signal: AbortSignal): Promise<unknown> {
    const body = {
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
    };
    try {
      const { retries } = question;
      const { choices } = await this.requests.post(body, answerSchema, { retries, signal });
      return readAs(choices[0]?.message.content ?? '', z.unknown());
    } catch (error) {
      throw new LlmFailed(this.name, failureReason(error));
    }
  }
}

/** Local endpoints need no key. */
export function bearer(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
}
