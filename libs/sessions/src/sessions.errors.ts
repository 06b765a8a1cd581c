import { AppError, type JsonObject } from '@app/platform';

/** Every session that people may have to a server, or in all, is in use. */
export class TooManyPeople extends AppError {
  constructor({ id, name, status }: ServerState) {
    super(
      `Server overloaded: as many people as are allowed use ${name} at the same time, or servers in all (MCP_AGGREGATOR_PERSON_SESSIONS_PER_SERVER, MCP_AGGREGATOR_PERSON_SESSIONS)`,
      {
        kind: 'overloaded',
        code: 'OVERLOADED',
        server: { id, name, status },
        context: { outcome: 'not executed' },
        retryAfterSeconds: 1,
      },
    );
  }
}

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
