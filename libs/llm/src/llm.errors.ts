import { AppError } from '@app/platform';

export class LlmFailed extends AppError {
  constructor(name: string, reason: string, cause?: unknown) {
    super(`The language model ${name} cannot be used: ${reason}`, {
      kind: 'unavailable',
      code: 'LLM_FAILED',
      cause,
    });
  }
}
