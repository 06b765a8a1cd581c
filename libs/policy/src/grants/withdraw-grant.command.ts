import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Policy } from '../policy.js';
import { GrantNotFound } from '../policy.errors.js';
import type { PolicyDraft } from '../rows/policy-draft.js';
import { subjectKey } from './grant.js';
import { grantDocument } from './give-grant.command.js';

/** From the next call on, the subject uses the view only by other grants. */
export class WithdrawGrant extends Command<void> {
  constructor(
    readonly id: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(WithdrawGrant)
export class WithdrawGrantHandler implements ICommandHandler<WithdrawGrant> {
  constructor(private readonly policy: Policy) {}

  execute(command: WithdrawGrant): Promise<void> {
    return this.policy.change((draft) => this.apply(command, draft));
  }

  /** Throws before it writes. */
  async apply({ id, actor }: WithdrawGrant, draft: PolicyDraft): Promise<void> {
    const grant = draft.grantOf(id);
    if (!grant) throw new GrantNotFound(id);
    await draft.deleteGrant(grant);
    const subject = subjectKey(grant);
    const view = draft.viewOf(grant.viewId)?.slug ?? grant.viewId;
    await draft.note({
      change: 'grant.withdrawn',
      subject: `${subject} on ${view}`,
      before: grantDocument(grant),
      after: null,
      details: { grant_id: id, subject, view },
      actor,
    });
  }
}
