import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue, ToolNotFound } from '@app/catalogue';
import { Policy } from '../policy.js';
import { OverrideNotFound, ViewNotFound } from '../policy.errors.js';
import { isFor, overrideHistory } from './set-override.command.js';

/** Offers the tool as its server defines it again. */
export class RemoveOverride extends Command<void> {
  constructor(
    readonly toolId: number,
    readonly view: string | undefined,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(RemoveOverride)
export class RemoveOverrideHandler implements ICommandHandler<RemoveOverride> {
  constructor(
    private readonly policy: Policy,
    private readonly catalogue: Catalogue,
    private readonly audit: AuditStore,
  ) {}

  execute({ toolId, view: slug, actor }: RemoveOverride): Promise<void> {
    const tool = this.catalogue.current.toolsById.get(toolId);
    if (!tool?.isExternal) throw new ToolNotFound(String(toolId));
    return this.policy.change(async (tx, now) => {
      const view = slug === undefined ? null : now.viewsBySlug.get(slug);
      if (view === undefined) throw new ViewNotFound(slug ?? '');
      const override = now.overrides.find((one) => isFor(one, tool, view?.id ?? null));
      if (!override) throw new OverrideNotFound(tool.name);
      await this.policy.rows.deleteOverride(override.id, tx);
      const details = { tool: tool.name, view: slug ?? null };
      await this.audit.record({ event: 'override.removed', actor, details }, tx);
      const entry = {
        change: 'override.removed',
        subject: `${tool.name} in ${slug ?? 'every view'}`,
        before: overrideHistory(override),
        after: null,
        actor: actor.name,
      };
      return { done: undefined, entry };
    });
  }
}
