import { AppError } from '@app/platform';

/** There is no session to the server, and one try to open one did not bring it about. */
export class ServerUnavailable extends AppError {
  constructor(server: { id: string; name: string; status: string }, cause?: unknown) {
    super(`Server unavailable: ${server.name}`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      server: { id: server.id, name: server.name, status: server.status },
      cause,
    });
  }
}
