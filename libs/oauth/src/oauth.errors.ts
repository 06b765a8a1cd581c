import { AppError } from '@app/platform';

export class ClientGrantNotFound extends AppError {
  constructor(id: string) {
    super(`No client was given access with the id ${id.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'CLIENT_GRANT_NOT_FOUND',
    });
  }
}
