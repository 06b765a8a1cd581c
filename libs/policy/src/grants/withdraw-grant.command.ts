import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Policy } from '../policy.js';
import { GrantNotFound } from '../policy.errors.js';
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
  constructor(
    private readonly policy: Policy,
    private readonly audit: AuditStore,
  ) {}

  execute({ id, actor }: WithdrawGrant): Promise<void> {
    return this.policy.change(async (tx, now) => {
      const grant = now.grantsById.get(id);
      if (!grant) throw new GrantNotFound(id);
      await this.policy.rows.deleteGrant(id, tx);
      const subject = subjectKey(grant);
      const view = now.viewsById.get(grant.viewId)?.slug ?? grant.viewId;
      const details = { grant_id: id, subject, view };
      await this.audit.record({ event: 'grant.withdrawn', actor, details }, tx);
      const entry = {
        change: 'grant.withdrawn',
        subject: `${subject} on ${view}`,
        before: grantDocument(grant),
        after: null,
        actor: actor.name,
      };
      return { done: undefined, entry };
    });
  }
}
