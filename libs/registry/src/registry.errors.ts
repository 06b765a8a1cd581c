import { AppError } from '@app/platform';

export class ServerNotFound extends AppError {
  constructor(id: string) {
    super(`Server not found: ${id.slice(0, 100)}`, { kind: 'not-found', code: 'SERVER_NOT_FOUND' });
  }
}

export class ServerAlreadyExists extends AppError {
  constructor(name: string) {
    super(`Server already exists: ${name}`, { kind: 'conflict', code: 'SERVER_ALREADY_EXISTS' });
  }
}

export class ServerLimitReached extends AppError {
  constructor(limit: number) {
    super(
      `This service accepts ${limit} servers and has that many; remove one or raise MCP_AGGREGATOR_MAX_SERVERS`,
      { kind: 'conflict', code: 'SERVER_LIMIT_REACHED', context: { limit } },
    );
  }
}

export class UnsetVariable extends AppError {
  constructor(variable: string, serverName: string) {
    super(
      `Cannot connect to ${serverName}: its configuration names \${${variable}}, which is not set in the environment of this service`,
      { kind: 'upstream', code: 'SERVER_CONNECTION_FAILED', context: { variable } },
    );
  }
}

/** A value that a person has to give was not given: a shared value never takes its place. */
export class PersonalValueMissing extends AppError {
  constructor(field: string) {
    super(`Cannot connect: the value ${field} has not been given by the person who calls`, {
      kind: 'conflict',
      code: 'CONNECTION_REQUIRED',
    });
  }
}

/** A URL that turns out to be forbidden once its placeholders are resolved. */
export class ForbiddenUrl extends AppError {
  constructor(serverName: string, problem: string) {
    super(`Cannot connect to ${serverName}: its URL is refused. ${problem}`, {
      kind: 'upstream',
      code: 'SERVER_CONNECTION_FAILED',
    });
  }
}

/** Shown at startup, so the message names the remedy. */
export class WrongCredentialKey extends AppError {
  constructor() {
    super(
      'MCP_CREDENTIAL_KEY is not the key that the credentials in this database were encrypted with. Start with that key; to change it, set the old one as MCP_CREDENTIAL_KEY_PREVIOUS and run `switchboard credentials rotate`.',
      { kind: 'internal', code: 'WRONG_CREDENTIAL_KEY' },
    );
  }
}

export class UnreadableCredentials extends AppError {
  constructor(what: string) {
    super(
      `The stored credentials of ${what} cannot be decrypted: the row was changed or its key is missing`,
      {
        kind: 'internal',
        code: 'CREDENTIALS_UNREADABLE',
      },
    );
  }
}

export class UnreadableServersFile extends AppError {
  constructor(file: string, problem: string, cause?: unknown) {
    super(`The servers file ${file} cannot be used: ${problem}`, {
      kind: 'bad-request',
      code: 'SERVERS_FILE_UNREADABLE',
      cause,
    });
  }
}

export class UnreadablePaste extends AppError {
  constructor(problem: string, cause?: unknown) {
    super(`What was pasted cannot be used: ${problem}`, {
      kind: 'bad-request',
      code: 'SERVERS_FILE_UNREADABLE',
      cause,
    });
  }
}

/** The settings disable the service, so no server may be connected or called. */
export class AggregatorDisabled extends AppError {
  constructor(server: { id: string; name: string; status: string }) {
    super(
      `${server.name} is not connected: this service runs with MCP_AGGREGATOR_ENABLED=false, which connects no server. Set it to true and start again.`,
      {
        kind: 'unavailable',
        code: 'SERVER_UNAVAILABLE',
        server: { id: server.id, name: server.name, status: server.status },
      },
    );
  }
}
