import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Policy } from '../policy.js';
import { DefaultViewStays } from '../policy.errors.js';
import { DEFAULT_VIEW } from './view.js';
import { viewDocument } from './view-document.js';

/** Deletes a view with its grants and overrides. Tokens that are pinned to it see nothing. */
export class DeleteView extends Command<void> {
  constructor(
    readonly slug: string,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(DeleteView)
export class DeleteViewHandler implements ICommandHandler<DeleteView> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly audit: AuditStore,
  ) {}

  execute({ slug, actor }: DeleteView): Promise<void> {
    if (slug === DEFAULT_VIEW.slug) throw new DefaultViewStays();
    const { servers } = this.catalogue.current;
    return this.policy.change(async (tx, now) => {
      const view = now.viewNamed(slug);
      await this.policy.rows.deleteView(view.id, tx);
      await this.audit.record({ event: 'view.deleted', actor, details: { view: slug } }, tx);
      const before = viewDocument(view, servers);
      const entry = {
        change: 'view.deleted',
        subject: slug,
        before,
        after: null,
        actor: actor.name,
      };
      return { done: undefined, entry };
    });
  }
}
