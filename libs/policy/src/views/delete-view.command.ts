import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Policy } from '../policy.js';
import { DefaultViewStays } from '../policy.errors.js';
import type { PolicyDraft } from '../rows/policy-draft.js';
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
  ) {}

  execute(command: DeleteView): Promise<void> {
    return this.policy.change((draft) => this.apply(command, draft));
  }

  /** Throws before it writes. */
  async apply({ slug, actor }: DeleteView, draft: PolicyDraft): Promise<void> {
    if (slug === DEFAULT_VIEW.slug) throw new DefaultViewStays();
    const view = draft.viewNamed(slug);
    await draft.deleteView(view);
    await draft.note({
      change: 'view.deleted',
      subject: slug,
      before: viewDocument(view, this.catalogue.current.servers),
      after: null,
      details: { view: slug },
      actor,
    });
  }
}
