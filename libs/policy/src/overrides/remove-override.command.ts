import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type { Actor } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { Policy } from '../policy.js';
import { OverrideNotFound } from '../policy.errors.js';
import type { PolicyDraft } from '../rows/policy-draft.js';
import { overrideHistory } from './set-override.command.js';
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
  ) {}

  execute(command: RemoveOverride): Promise<void> {
    return this.policy.change((draft) => this.apply(command, draft));
  }

  /** Throws before it writes. */
  async apply({ target, view, actor }: RemoveOverride, draft: PolicyDraft): Promise<void> {
    const server = this.catalogue.current.servers.get(target.serverId);
    const tool = `${server?.name ?? target.serverId}.${target.tool}`;
    const viewId = view === undefined ? null : draft.viewNamed(view).id;
    const override = draft.overrideOf(target, viewId);
    if (!override) throw new OverrideNotFound(tool);
    await draft.deleteOverride(override);
    await draft.note({
      change: 'override.removed',
      subject: `${tool} in ${view ?? 'every view'}`,
      before: overrideHistory(override),
      after: null,
      details: { tool, view: view ?? null },
      actor,
    });
  }
}
