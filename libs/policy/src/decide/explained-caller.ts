import { Injectable } from '@nestjs/common';
import { type Principal, subjectIn, Tokens } from '@app/access';
import { Env, InvalidInput, peopleIssuer } from '@app/platform';
import { ANYONE } from '../grants/grant.js';

/** As in `Principal.subjects`, and `anyone`. */
export const SUBJECT = /^(?:anyone|(?:token|user|client|group):.+)$/s;
/** More subjects than a JWT has. */
export const MAX_SUBJECTS = 200;
const TOKEN = 'token:';

/** A caller that an answer is about, and that need not be its reader. */
export interface ExplainedCaller {
  /** In messages. */
  readonly label: string;
  readonly principal: Principal;
  /** False for subjects of a JWT, which names its scopes itself. */
  readonly hasKnownScopes: boolean;
}

/** Makes the principal that a request of these subjects would have. */
@Injectable()
export class ExplainedCallers {
  constructor(
    private readonly tokens: Tokens,
    private readonly env: Env,
  ) {}

  /** All of one caller: `user:ada` and `group:crew`, or one token. */
  of(subjects: readonly string[]): ExplainedCaller {
    const label = subjects.join(' with ');
    const token = subjects.find((subject) => subject.startsWith(TOKEN));
    if (token !== undefined && subjects.length > 1) {
      const msg = 'A token is a caller by itself: it has no user, client or group';
      throw new InvalidInput([{ loc: ['body', 'subjects'], msg, type: 'value_error' }]);
    }
    const known = token === undefined ? undefined : this.tokens.named(token.slice(TOKEN.length));
    if (known) return { label, principal: known, hasKnownScopes: true };
    const named = subjects.filter((subject) => subject !== ANYONE);
    const subject = subjectIn('jwt', '', peopleIssuer(this.env));
    const principal = { name: label, scopes: ['call'] as const, subjects: named, subject };
    return { label, principal, hasKnownScopes: false };
  }
}
