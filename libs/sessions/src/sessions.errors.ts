import { AppError, type JsonObject } from '@app/platform';

interface ServerState {
  readonly id: string;
  readonly name: string;
  readonly status: string;
}

/** There is no session to the server, and an attempt to open one failed. */
export class ServerUnavailable extends AppError {
  constructor({ id, name, status }: ServerState, cause?: unknown, context?: JsonObject) {
    super(`Server unavailable: ${name}`, {
      kind: 'unavailable',
      code: 'SERVER_UNAVAILABLE',
      server: { id, name, status },
      ...(context && { context }),
      cause,
    });
  }
}
