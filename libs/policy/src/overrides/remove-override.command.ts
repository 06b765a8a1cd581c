import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Policy } from '../policy.js';
import { OverrideNotFound } from '../policy.errors.js';
import { isFor, overrideHistory } from './set-override.command.js';
import type { OverriddenTool } from './tool-override.js';

/** Offers the tool as its server defines it again. */
export class RemoveOverride extends Command<void> {
  constructor(
    readonly target: OverriddenTool,
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

  execute({ target, view: slug, actor }: RemoveOverride): Promise<void> {
    const server = this.catalogue.current.servers.get(target.serverId);
    const toolName = `${server?.name ?? target.serverId}.${target.tool}`;
    return this.policy.change(async (tx, now) => {
      const viewId = slug === undefined ? null : now.viewNamed(slug).id;
      const override = now.overrides.find((one) => isFor(one, target, viewId));
      if (!override) throw new OverrideNotFound(toolName);
      await this.policy.rows.deleteOverride(override.id, tx);
      const details = { tool: toolName, view: slug ?? null };
      await this.audit.record({ event: 'override.removed', actor, details }, tx);
      const entry = {
        change: 'override.removed',
        subject: `${toolName} in ${slug ?? 'every view'}`,
        before: overrideHistory(override),
        after: null,
        actor: actor.name,
      };
      return { done: undefined, entry };
    });
  }
}
