import { AppError } from '@app/platform';

interface ServerState {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

/** There is no session to the server, and an attempt to open one failed. */
export class ServerUnavailable extends AppError {
  constructor({ id, name, status }: ServerState, cause?: unknown) {
    super(`Server unavailable: ${name}`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      server: { id, name, status },
      cause,
    });
  }

  /** The same error with the state that the server has by now. */
  of(server: ServerState): ServerUnavailable {
    return this.server?.status === server.status ? this : new ServerUnavailable(server, this.cause);
  }
}
