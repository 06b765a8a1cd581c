import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';

/** Why a hosted model failed. Status and kind only: an endpoint's own words may repeat the key it was given. */
export function failureReason(error: unknown): string {
  for (const sdk of [Anthropic, OpenAI]) {
    if (error instanceof sdk.APIConnectionTimeoutError || error instanceof sdk.APIUserAbortError) {
      return 'it did not answer in time';
    }
    if (error instanceof sdk.APIConnectionError) return 'it cannot be reached';
    if (error instanceof sdk.APIError && error.status) return `it answered HTTP ${error.status}`;
  }
  return 'its answer cannot be read';
}
