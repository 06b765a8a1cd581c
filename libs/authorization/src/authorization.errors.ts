import { AppError } from '@app/platform';

/** This server does not use OAuth. */
export class AuthorizationNotUsed extends AppError {
  constructor(serverName: string) {
    super(
      `${serverName} does not use OAuth: it is a STDIO server, or its configuration has an Authorization header`,
      { kind: 'conflict', code: 'AUTHORIZATION_NOT_USED' },
    );
  }
}

/** The state of an OAuth callback matches no open consent request. */
export class AuthorizationUnknown extends AppError {
  constructor() {
    super(
      'Unknown or expired OAuth state: request the consent again (POST …/servers/{id}/authorize)',
      {
        kind: 'not-found',
        code: 'AUTHORIZATION_UNKNOWN',
      },
    );
  }
}

export class NoClientMetadata extends AppError {
  constructor() {
    super(
      'This service publishes no client metadata: set MCP_AGGREGATOR_PUBLIC_URL to an https: URL',
      {
        kind: 'not-found',
        code: 'NOT_FOUND',
      },
    );
  }
}
