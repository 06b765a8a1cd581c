import { AppError } from '@app/platform';

export class ResultNotFound extends AppError {
  constructor(id: string) {
    super(`Result not found: ${id}, or it has no such page, or has expired; call the tool again`, {
      kind: 'not-found',
      code: 'RESULT_NOT_FOUND',
      context: { result_id: id },
    });
  }
}
