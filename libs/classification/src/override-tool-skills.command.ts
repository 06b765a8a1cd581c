import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { ToolsClassified } from '@app/events';
import { Database, InvalidInput } from '@app/platform';
import { ClassificationStore } from './classification.store.js';
import { SkillStore } from './skill.store.js';

/** A human says which skills a tool has, the primary one first; no classifier changes it again (RULINGS R26). */
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
    private readonly classifications: ClassificationStore,
    private readonly audit: AuditStore,
    private readonly events: EventBus,
  ) {}

  async execute({ toolId, skillIds, actor }: OverrideToolSkills): Promise<void> {
    const touched = await this.database.transaction(async (tx) => {
      const active = new Set((await this.skills.active(tx)).map((skill) => skill.id));
      const unknown = skillIds.findIndex((id) => !active.has(id));
      if (unknown >= 0) {
        const msg = 'There is no active skill with this id';
        throw new InvalidInput([{ loc: ['body', 'skill_ids', unknown], msg, type: 'value_error' }]);
      }
      const assignments = skillIds.map((skillId) => ({ skillId, confidence: 1 }));
      const tools = await this.classifications.override(toolId, assignments, actor.name, tx);
      const details = { tool_id: toolId, skill_ids: [...skillIds] };
      await this.audit.record({ event: 'tool.skills_overridden', actor, details }, tx);
      return tools;
    });
    this.events.publish(
      new ToolsClassified(
        touched.map((tool) => tool.serverId),
        [toolId],
      ),
    );
  }
}
