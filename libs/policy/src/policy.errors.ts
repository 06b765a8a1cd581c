import { AppError } from '@app/platform';

/** The same whether there is no such view or the caller may not use it. */
export class ViewNotFound extends AppError {
  constructor(slug: string) {
    super(`There is no view named ${slug.slice(0, 100)}, or it is not granted to you`, {
      kind: 'not-found',
      code: 'VIEW_NOT_FOUND',
    });
  }
}

export class NoGrant extends AppError {
  constructor(principal: string, slug: string) {
    super(
      `Nothing is granted to ${principal} on the view ${slug}; an admin grants it with POST /api/v1/aggregator/grants`,
      { kind: 'forbidden', code: 'NO_GRANT', context: { view: slug } },
    );
  }
}

/** The grant of the caller only lists. */
export class GrantOnlyReads extends AppError {
  constructor(slug: string) {
    super(`Your grant on the view ${slug} has the level read, which lists tools and calls none`, {
      kind: 'forbidden',
      code: 'FORBIDDEN',
      context: { view: slug, level: 'read' },
    });
  }
}

/** The route shows servers and tools whatever is granted to the caller. */
export class OnlyPartGranted extends AppError {
  constructor() {
    super(
      'Your token sees a part of the tools, and this shows all: it needs the scope operate, or the default view as a whole',
      { kind: 'forbidden', code: 'FORBIDDEN' },
    );
  }
}

export class ViewExists extends AppError {
  constructor(slug: string) {
    super(`There is a view named ${slug} already; choose another name, or change that one`, {
      kind: 'conflict',
      code: 'VIEW_ALREADY_EXISTS',
    });
  }
}

export class DefaultViewStays extends AppError {
  constructor() {
    super('The view default cannot be deleted or renamed; remove its rules to offer nothing', {
      kind: 'conflict',
      code: 'DEFAULT_VIEW',
    });
  }
}

export class GrantNotFound extends AppError {
  constructor(id: string) {
    super(`No grant has the id ${id.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'GRANT_NOT_FOUND',
    });
  }
}

export class OverrideNotFound extends AppError {
  constructor(tool: string) {
    super(`${tool} has no override here`, { kind: 'not-found', code: 'OVERRIDE_NOT_FOUND' });
  }
}

/** The server was removed while the override was written. */
export class OverriddenServerNotFound extends AppError {
  constructor(id: string) {
    super(`No server has the id ${id.slice(0, 100)}; register it first`, {
      kind: 'not-found',
      code: 'SERVER_NOT_FOUND',
    });
  }
}

/** Told only to a caller that may know of every server. */
export class ServerNotOffered extends AppError {
  constructor(name: string, slug: string) {
    super(`The view ${slug} offers nothing of the server ${name} to you`, {
      kind: 'not-found',
      code: 'SERVER_NOT_FOUND',
      context: { view: slug },
    });
  }
}

/** Nothing was changed. */
export class ServerRemovedMeanwhile extends AppError {
  constructor() {
    super('A server was removed while the policy was changed; nothing was changed, try again', {
      kind: 'conflict',
      code: 'SERVER_NOT_FOUND',
      context: { outcome: 'not executed' },
    });
  }
}

export class NamedServerNotFound extends AppError {
  constructor(name: string) {
    super(`No server is named ${name.slice(0, 100)}; register it first`, {
      kind: 'not-found',
      code: 'SERVER_NOT_FOUND',
    });
  }
}

export class UnreadablePolicy extends AppError {
  constructor(file: string, problem: string) {
    super(`The sections "views" and "overrides" of ${file} cannot be used: ${problem}`, {
      kind: 'bad-request',
      code: 'SERVERS_FILE_UNREADABLE',
    });
  }
}

export class PolicyLimitReached extends AppError {
  constructor(what: string, limit: number) {
    super(`There are ${limit} ${what}, which is the limit; delete one that is not used`, {
      kind: 'conflict',
      code: 'POLICY_LIMIT_REACHED',
      context: { limit },
    });
  }
}

/** A name that a view offers must lead to one tool. */
export class OfferedNameTaken extends AppError {
  constructor(name: string, tool: string) {
    super(`${name} is what ${tool} is called in this view already; choose another name`, {
      kind: 'conflict',
      code: 'NAME_TAKEN',
    });
  }
}

export class HiddenArgument extends AppError {
  constructor(tool: string, argument: string) {
    super(`${tool} does not take the argument ${argument.slice(0, 100)}; leave it out`, {
      kind: 'invalid',
      code: 'VALIDATION_ERROR',
      context: { tool, argument: argument.slice(0, 100) },
      issues: [
        {
          loc: ['arguments', argument.slice(0, 100)],
          msg: 'Unknown argument',
          type: 'extra_forbidden',
        },
      ],
    });
  }
}

/** The variable was removed from the environment after the override was saved. */
export class PresetWithoutValue extends AppError {
  constructor(tool: string, variable: string) {
    super(
      `${tool} cannot be called: its preset arguments need the environment variable ${variable}, which is not set; an operator sets it and restarts the service`,
      { kind: 'unavailable', code: 'SERVICE_UNAVAILABLE', context: { tool, variable } },
    );
  }
}
