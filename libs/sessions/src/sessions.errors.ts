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

/** OAuth has nothing to do with how this server is reached. */
export class AuthorizationNotUsed extends AppError {
  constructor(serverName: string) {
    super(
      `${serverName} is not reached by OAuth: it is a program, or its configuration has an Authorization header`,
      { kind: 'conflict', code: 'AUTHORIZATION_NOT_USED' },
    );
  }
}

/** Nobody was asked with that, or it is over. */
export class AuthorizationUnknown extends AppError {
  constructor() {
    super('There is no question with this state', {
      kind: 'not-found',
      code: 'AUTHORIZATION_UNKNOWN',
    });
  }
}

export class NoClientMetadata extends AppError {
  constructor() {
    super('This service publishes no client metadata: MCP_AGGREGATOR_PUBLIC_URL is no https: URL', {
      kind: 'not-found',
      code: 'NOT_FOUND',
    });
  }
}
