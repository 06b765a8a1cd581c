import { AppError } from '@app/platform';

/** Why a person has to connect before a call. */
export type ConnectReason = 'none' | 'incomplete' | 'moved' | 'refused';

const reasons: Readonly<Record<ConnectReason, string>> = {
  none: 'you have not connected it yet',
  incomplete: 'it asks for more than you have given',
  moved: 'it has moved to another place since you connected it',
  refused: 'it refused those that you gave, or they have expired',
};

export const CONNECTION_REQUIRED = 'CONNECTION_REQUIRED';

export interface ConnectAddress {
  readonly url: string;
  readonly until: Date;
}

/**
 * A server is called with credentials of the person, who has to give them first. The address is no secret: it is good
 * only for a browser in which the same person is logged in.
 */
export class ConnectionRequired extends AppError {
  constructor(
    server: { readonly id: string; readonly name: string },
    readonly person: string,
    why: ConnectReason,
    readonly address: ConnectAddress | undefined,
  ) {
    const how = address
      ? `Open ${address.url} in a browser within 10 minutes, log in as ${person} and connect it, then call again`
      : `Give them with PUT /api/v1/me/connections/${server.id}, then call again`;
    super(`${server.name} is called with your own credentials, and ${reasons[why]}. ${how}`, {
      kind: 'conflict',
      code: CONNECTION_REQUIRED,
      context: {
        server_id: server.id,
        server_name: server.name,
        outcome: 'not executed',
        ...(address && { connect_url: address.url, expires_at: address.until.toISOString() }),
      },
    });
  }
}

/** Also where another replica says so. */
export function isConnectionRequired(error: unknown): error is AppError {
  return error instanceof AppError && error.code === CONNECTION_REQUIRED;
}

export class ConnectionNotFound extends AppError {
  constructor(serverName: string) {
    super(`There are no credentials of that person for ${serverName}`, {
      kind: 'not-found',
      code: 'CONNECTION_NOT_FOUND',
    });
  }
}

/** There is nothing to exchange: the caller has no JWT, or another replica has seen it. */
export class ExchangeImpossible extends AppError {
  constructor({ id, name }: { readonly id: string; readonly name: string }, person: string) {
    super(
      `${name} is called with a token that is got for the JWT of the caller, and none of ${person} is known here: call with a JWT of the configured issuer, or begin a new session`,
      {
        kind: 'conflict',
        code: CONNECTION_REQUIRED,
        context: { server_id: id, server_name: name, outcome: 'not executed' },
      },
    );
  }
}

/** The server refused a token that was exchanged a moment ago, or the exchange was refused. */
export class ExchangeRefused extends AppError {
  constructor({ id, name }: { readonly id: string; readonly name: string }, cause: unknown) {
    const reason = cause instanceof AppError ? `: ${cause.message}` : '';
    super(`${name} cannot be used as the caller${reason}`, {
      kind: 'conflict',
      code: CONNECTION_REQUIRED,
      context: { server_id: id, server_name: name, outcome: 'not executed' },
      cause,
    });
  }
}

/** Its calls are made with credentials of its configuration, or with tokens that are exchanged. */
export class CredentialsShared extends AppError {
  constructor(serverName: string) {
    super(
      `${serverName} is not connected by people themselves; an admin changes that with credentials: per_user`,
      { kind: 'conflict', code: 'CREDENTIALS_SHARED' },
    );
  }
}

/** A link that was used, has expired, never existed, or is of another person: nothing says which. */
export class LinkUnknown extends AppError {
  constructor() {
    super(
      'This link is over, or is not for the person who is logged in here. Call the tool again for a new one, or log in as the person who called',
      { kind: 'not-found', code: 'LINK_UNKNOWN' },
    );
  }
}

/** Browsers cannot log in here. */
export class NoConnectPage extends AppError {
  constructor(serverId: string) {
    super(
      `This service has no pages (MCP_AGGREGATOR_CONSOLE=false): give the credentials with PUT /api/v1/me/connections/${serverId}`,
      { kind: 'conflict', code: 'NO_CONSOLE' },
    );
  }
}
