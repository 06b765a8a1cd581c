import { AppError } from '@app/platform';

/** This server does not use OAuth. */
export class AuthorizationNotUsed extends AppError {
  constructor(serverName: string) {
    super(
      `${serverName} is not reached by OAuth: it is a program, or its configuration has an Authorization header`,
      { kind: 'conflict', code: 'AUTHORIZATION_NOT_USED' },
    );
  }
}

/** The state of an OAuth callback matches no open consent request. */
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
