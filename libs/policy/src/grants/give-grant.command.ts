import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Clock, Env, InvalidInput, type JsonObject, peopleIssuer } from '@app/platform';
import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Policy } from '../policy.js';
import { PolicyLimitReached } from '../policy.errors.js';
import type { PolicyDraft } from '../rows/policy-draft.js';
import { type Grant, type GrantLevel, MAX_GRANTS, subjectKey, type SubjectKind } from './grant.js';

export interface GivenGrant {
  readonly subjectKind: SubjectKind;
  readonly subject: string;
  readonly view: string;
  readonly level: GrantLevel;
  /** Null for a grant that does not expire. */
  readonly expiresAt: Date | null;
  readonly callsPerMinute: number | null;
}

/**
 * Lets a subject use a view: users, groups and clients of the issuer that is configured now. A second grant for the same
 * two replaces the first; an equal one changes nothing.
 */
export class GiveGrant extends Command<Grant> {
  constructor(
    readonly given: GivenGrant,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(GiveGrant)
export class GiveGrantHandler implements ICommandHandler<GiveGrant> {
  constructor(
    private readonly policy: Policy,
    private readonly clock: Clock,
    private readonly env: Env,
  ) {}

  execute(command: GiveGrant): Promise<Grant> {
    return this.policy.change((draft) => this.apply(command, draft));
  }

  /** Throws before it writes. */
  async apply({ given, actor }: GiveGrant, draft: PolicyDraft): Promise<Grant> {
    const { subjectKind, level, expiresAt, callsPerMinute } = given;
    const isAnyone = subjectKind === 'anyone';
    if (isAnyone !== (given.subject === '')) {
      const msg = isAnyone ? 'anyone has no subject' : 'Must name the subject';
      throw new InvalidInput([{ loc: ['body', 'subject'], msg, type: 'value_error' }]);
    }
    const view = draft.viewNamed(given.view);
    const before = draft.grantOn(view.id, given);
    if (!before && draft.counts.grants >= MAX_GRANTS) {
      throw new PolicyLimitReached('grants', MAX_GRANTS);
    }
    const isOfIssuer = subjectKind !== 'token' && !isAnyone;
    const issuer = isOfIssuer ? (peopleIssuer(this.env) ?? null) : null;
    if (before && isSame(before, { ...given, issuer })) return before;
    const grant: Grant = {
      id: before?.id ?? randomUUID(),
      subjectKind,
      subject: given.subject,
      issuer,
      viewId: view.id,
      level,
      expiresAt,
      callsPerMinute,
      createdBy: actor.name,
      createdAt: before?.createdAt ?? this.clock.now(),
    };
    await draft.saveGrant(grant);
    const subject = subjectKey(grant);
    await draft.note({
      change: 'grant.given',
      subject: `${subject} on ${view.slug}`,
      before: before ? grantDocument(before) : null,
      after: grantDocument(grant),
      details: { grant_id: grant.id, subject, view: view.slug, level },
      actor,
    });
    return grant;
  }
}

type Extent = Pick<Grant, 'level' | 'expiresAt' | 'callsPerMinute'>;
type Given = Extent & Pick<Grant, 'issuer'>;

function isSame(one: Given, other: Given): boolean {
  return isDeepStrictEqual(grantDocument(one), grantDocument(other));
}

/** In the history. */
export function grantDocument(grant: Given): JsonObject {
  return { ...extentDocument(grant), ...(grant.issuer !== null && { issuer: grant.issuer }) };
}

/** In an export, whose users, groups and clients are those of the issuer where it is read. */
export function extentDocument({ level, expiresAt, callsPerMinute }: Extent): JsonObject {
  return {
    level,
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
    ...(callsPerMinute !== null && { calls_per_minute: callsPerMinute }),
  };
}
