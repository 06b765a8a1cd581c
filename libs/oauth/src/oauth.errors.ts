import { AppError } from '@app/platform';

export class NoAuthorizationServer extends AppError {
  constructor() {
    super('This service gives no tokens to OAuth clients: set MCP_AGGREGATOR_OAUTH=on', {
      kind: 'conflict',
      code: 'NOT_CONFIGURED',
      context: { setting: 'MCP_AGGREGATOR_OAUTH' },
    });
  }
}

export class ClientGrantNotFound extends AppError {
  constructor(id: string) {
    super(`No client was given access with the id ${id.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'CLIENT_GRANT_NOT_FOUND',
    });
  }
}
