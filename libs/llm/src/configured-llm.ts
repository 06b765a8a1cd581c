import type { Env } from '@app/platform';
import { AnthropicLlm } from './anthropic-llm.js';
import type { Llm } from './llm.js';
import { OpenAiLlm } from './openai-llm.js';

/** Undefined without LLM_PROVIDER. */
export function configuredLlm(env: Env): Llm | undefined {
  const settings = { url: env.LLM_URL, apiKey: env.LLM_API_KEY, model: env.LLM_MODEL ?? '' };
  switch (env.LLM_PROVIDER) {
    case 'anthropic':
      return new AnthropicLlm(settings);
    case 'openai':
      return new OpenAiLlm(settings);
    case undefined:
      return undefined;
    default:
      return env.LLM_PROVIDER satisfies never;
  }
}
