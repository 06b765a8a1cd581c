import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Clock, InvalidInput, type JsonObject } from '@app/platform';
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

/** Lets a subject use a view. A second grant for the same two replaces the first; an equal one changes nothing. */
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
    if (before && isSame(before, given)) return before;
    const grant: Grant = {
      id: before?.id ?? randomUUID(),
      subjectKind,
      subject: given.subject,
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

function isSame(one: Extent, other: Extent): boolean {
  return isDeepStrictEqual(grantDocument(one), grantDocument(other));
}

export function grantDocument({ level, expiresAt, callsPerMinute }: Extent): JsonObject {
  return {
    level,
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
    ...(callsPerMinute !== null && { calls_per_minute: callsPerMinute }),
  };
}
