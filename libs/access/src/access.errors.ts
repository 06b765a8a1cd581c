import { AppError, type TokenScope } from '@app/platform';

/** Missing or invalid credentials; the challenge says how to authenticate. */
export class Unauthorized extends AppError {
  constructor(message: string, challenge: string) {
    super(message, { kind: 'unauthorized', code: 'UNAUTHORIZED', challenge });
  }
}

/** What a person logs in with at the console. */
export class LoginRefused extends Unauthorized {
  constructor(what: keyof typeof loginHelp) {
    super(loginHelp[what], LOGIN_CHALLENGE);
  }
}

const LOGIN_CHALLENGE = 'Bearer realm="switchboard"';
const loginHelp = {
  token:
    'The token is not known here, or has expired. `switchboard login` prints a link that logs in',
  code: 'This link was used already, or has expired: it works once, within ten minutes. `switchboard login` prints another one',
  password:
    'The name or the password is wrong, or the name is locked for 15 minutes after 10 wrong passwords',
  invitation:
    'This invitation was used already, or has expired: it works once, within 24 hours. An administrator makes another one with `switchboard tokens invite`',
  jwt: 'This is a token of an identity provider. The console takes a token of this service: an administrator makes one with `switchboard tokens create`',
} as const;

/** Someone whom the identity provider knows and this service gives no role. */
/** Why someone whom the identity provider knows may not log in. */
export type LoginRefusal = 'role' | 'domain' | 'unverified-address' | 'account-ended';

const whyRefused: Readonly<Record<LoginRefusal, string>> = {
  role: 'Your account at the identity provider has no role at this service; an administrator gives it one with MCP_AGGREGATOR_LOGIN_ROLES',
  domain:
    'Your account at the identity provider is of none of the domains that may log in at this service; an administrator names them in MCP_AGGREGATOR_LOGIN_DOMAINS',
  'unverified-address':
    'The identity provider does not say that your e-mail address is verified, and this service admits only verified ones (MCP_AGGREGATOR_LOGIN_DOMAINS). Verify it there, and log in again',
  'account-ended': 'Your account at this service ended during the login. Begin the login again',
};

export class PersonNotAllowed extends AppError {
  constructor(reason: LoginRefusal) {
    super(whyRefused[reason], { kind: 'forbidden', code: 'FORBIDDEN' });
  }
}

export class TooManyAccounts extends AppError {
  constructor(limit: number) {
    super(`${limit} people have logged in, which is the limit; accounts that are not used expire`, {
      kind: 'conflict',
      code: 'PEOPLE_LIMIT_REACHED',
      context: { limit },
    });
  }
}

/** A login or logout that no page of the console sent; another page may have made a browser send it. */
export class NotFromConsole extends AppError {
  constructor() {
    super(
      'Only pages of this service log in and out: send `X-Requested-With: switchboard-console`, and no Origin but that of this service',
      { kind: 'forbidden', code: 'FORBIDDEN', context: { header: 'X-Requested-With' } },
    );
  }
}

/** A form that no page of this service showed. */
export class NotFromOwnForm extends AppError {
  constructor() {
    super('This form was not sent by a page of this service; open the address again', {
      kind: 'forbidden',
      code: 'FORBIDDEN',
    });
  }
}

/** A login link refers to a token of this service, which the caller does not have. */
export class NotOwnToken extends AppError {
  constructor() {
    super(
      'A login link needs a token of this service, not one of an identity provider: an administrator makes one with `switchboard tokens create`',
      { kind: 'forbidden', code: 'FORBIDDEN' },
    );
  }
}

/** A token that is malformed, expired, of another issuer or audience, or not signed by a known key. */
export class JwtRefused extends Error {}

/** The token is valid but lacks the scope of the route. */
export class ScopeMissing extends AppError {
  constructor(scope: TokenScope, challenge: string) {
    super(`This needs a token with the scope '${scope}'`, {
      kind: 'forbidden',
      code: 'FORBIDDEN',
      context: { required_scope: scope },
      challenge,
    });
  }
}

/** A cross-origin request of a browser, or a host name rebound to this address (DNS rebinding). */
export class ForeignRequest extends AppError {
  constructor(header: 'Host' | 'Origin', setting: string) {
    super(`Requests with this ${header} header are refused; ${setting} says which are allowed`, {
      kind: 'forbidden',
      code: 'FORBIDDEN',
      context: { header, setting },
    });
  }
}

export class RateLimited extends AppError {
  constructor(retryAfterSeconds: number) {
    super(`Too many requests; try again in ${retryAfterSeconds} s`, {
      kind: 'rate-limited',
      code: 'RATE_LIMITED',
      retryAfterSeconds,
    });
  }
}

/** The issuer's keys cannot be fetched, so the token can be neither accepted nor refused. */
export class KeysUnavailable extends AppError {
  constructor(retryAfterSeconds: number) {
    super('The token cannot be checked now: the keys of its issuer cannot be reached', {
      kind: 'unavailable',
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds,
    });
  }
}

export class TokenNotFound extends AppError {
  constructor(id: string) {
    super(`No token was issued with the id ${id.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'TOKEN_NOT_FOUND',
    });
  }
}

export class PersonNotFound extends AppError {
  constructor(id: string) {
    super(`No person has an account with the id ${id.slice(0, 100)}`, {
      kind: 'not-found',
      code: 'PERSON_NOT_FOUND',
    });
  }
}

/** A password is chosen on a page that exists only with `MCP_AGGREGATOR_OAUTH`. */
export class NoPasswordPages extends AppError {
  constructor() {
    super(
      'People have passwords only where this service gives OAuth clients their tokens: set MCP_AGGREGATOR_OAUTH=on',
      { kind: 'conflict', code: 'NOT_CONFIGURED', context: { setting: 'MCP_AGGREGATOR_OAUTH' } },
    );
  }
}

export class TokenNameTaken extends AppError {
  constructor(name: string) {
    super(`There is a token named ${name} already; choose another name, or rotate that token`, {
      kind: 'conflict',
      code: 'TOKEN_ALREADY_EXISTS',
    });
  }
}

export class TooManyTokens extends AppError {
  constructor(limit: number) {
    super(`${limit} tokens are issued, which is the limit; revoke one that is not used`, {
      kind: 'conflict',
      code: 'TOKEN_LIMIT_REACHED',
      context: { limit },
    });
  }
}

/** Thrown at start, for a route without an access rule. */
export class RouteWithoutAccessRule extends AppError {
  constructor(route: string) {
    super(
      `${route} has no access rule: give it @RequireScope() or @Public(), or config.access where it is added to Fastify`,
      { kind: 'internal', code: 'INTERNAL_ERROR' },
    );
  }
}

export class UnusableTokenFile extends AppError {
  constructor(file: string) {
    super(`${file} holds no usable token. Delete it, and the next start makes a new one.`, {
      kind: 'internal',
      code: 'INTERNAL_ERROR',
    });
  }
}

export class NoIssuer extends AppError {
  constructor() {
    super('This service takes no tokens of an OAuth issuer', {
      kind: 'not-found',
      code: 'NOT_FOUND',
    });
  }
}
