import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ToolsClassified } from '@app/events';
import { Database, InvalidInput, Signals } from '@app/platform';
import { SkillStore } from '../skills/skill.store.js';
import { OverrideStore } from './override.store.js';

/** A human sets the skills of a tool, primary skill first; no classifier changes them again (contract R26). */
export class OverrideToolSkills extends Command<void> {
  constructor(
    readonly toolId: number,
    readonly skillIds: readonly string[],
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(OverrideToolSkills)
export class OverrideToolSkillsHandler implements ICommandHandler<OverrideToolSkills> {
  constructor(
    private readonly database: Database,
    private readonly skills: SkillStore,
    private readonly overrides: OverrideStore,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
  ) {}

  async execute({ toolId, skillIds, actor }: OverrideToolSkills): Promise<void> {
    const serverId = await this.database.transaction(async (tx) => {
      const active = new Set((await this.skills.active(tx)).map((skill) => skill.id));
      const unknown = skillIds.findIndex((id) => !active.has(id));
      if (unknown >= 0) {
        const msg = 'There is no active skill with this id';
        throw new InvalidInput([{ loc: ['body', 'skill_ids', unknown], msg, type: 'value_error' }]);
      }
      const assignments = skillIds.map((skillId) => ({ skillId, confidence: 1 }));
      const server = await this.overrides.set(toolId, assignments, actor.name, tx);
      const details = { tool_id: toolId, skill_ids: [...skillIds] };
      await this.audit.record({ event: 'tool.skills_overridden', actor, details }, tx);
      return server;
    });
    await this.signals.tell(new ToolsClassified(serverId === null ? [] : [serverId], [toolId]));
  }
}
