import { AppError } from '@app/platform';

/** `what`: the id that was asked for. */
export class ApprovalNotFound extends AppError {
  constructor(what: string) {
    super(
      `Nothing waits for approval under ${what.slice(0, 100)}: GET /api/v1/aggregator/approvals lists what does`,
      { kind: 'not-found', code: 'APPROVAL_NOT_FOUND' },
    );
  }
}

/** The caller decides on a definition that is not the present one. */
export class DefinitionChanged extends AppError {
  constructor(what: string, currentHash: string | null) {
    super(
      `${what} changed after it was looked at, so nothing was decided: look at it again and send its present expected_hash`,
      { kind: 'conflict', code: 'DEFINITION_CHANGED', context: { expected_hash: currentHash } },
    );
  }
}

export class ServerLocked extends AppError {
  constructor(server: string) {
    super(
      `The server ${server} is locked: nothing new or changed of it is offered. Set its trust to pinned or review before you approve`,
      { kind: 'conflict', code: 'SERVER_LOCKED' },
    );
  }
}
