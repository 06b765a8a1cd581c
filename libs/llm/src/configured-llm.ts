import type { Env } from '@app/platform';
import type { Llm } from './llm.js';

/** Undefined without LLM_PROVIDER. SDKs are imported only when used: together they take 25 MB of memory. */
export async function configuredLlm(env: Env): Promise<Llm | undefined> {
  const settings = { url: env.LLM_URL, apiKey: env.LLM_API_KEY, model: env.LLM_MODEL ?? '' };
  switch (env.LLM_PROVIDER) {
    case 'anthropic': {
      const { AnthropicLlm } = await import('./anthropic-llm.js');
      return new AnthropicLlm(settings);
    }
    case 'openai': {
      const { OpenAiLlm } = await import('./openai-llm.js');
      return new OpenAiLlm(settings);
    }
    case undefined:
      return undefined;
    default:
      return env.LLM_PROVIDER satisfies never;
  }
}
