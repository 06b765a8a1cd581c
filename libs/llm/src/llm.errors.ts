import { AppError } from '@app/platform';

export class LlmFailed extends AppError {
  constructor(name: string, reason: string) {
    super(`The language model ${name} cannot be used: ${reason}`, {
      kind: 'unavailable',
      code: 'LLM_FAILED',
    });
  }
}

/** The message says why, without any text of the endpoint, which may repeat the key. */
export class ModelRequestFailed extends Error {
  constructor(
    reason: string,
    /** Undefined if another attempt would fail as well; `afterMs` is what the endpoint asks to wait. */
    readonly retry?: { readonly afterMs?: number | undefined },
  ) {
    super(reason);
    this.name = new.target.name;
  }
}

/** Why a hosted model failed, to be shown. */
export function failureReason(error: unknown): string {
  return error instanceof ModelRequestFailed ? error.message : 'its answer cannot be read';
}
