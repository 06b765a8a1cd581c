import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { SkillsChanged, ToolsClassified } from '@app/events';
import { Database } from '@app/platform';
import { ClassificationStore } from './classification.store.js';
import type { Skill } from './skill.js';
import { type CountedSkill, SkillStore } from './skill.store.js';

export type SkillChanges = { readonly [K in keyof Omit<Skill, 'id'>]?: Skill[K] | undefined };

/** Changes a skill, or switches it off or on; tools are looked at again. */
export class UpdateSkill extends Command<CountedSkill> {
  constructor(
    readonly skillId: string,
    readonly changes: SkillChanges,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(UpdateSkill)
export class UpdateSkillHandler implements ICommandHandler<UpdateSkill> {
  constructor(
    private readonly database: Database,
    private readonly skills: SkillStore,
    private readonly classifications: ClassificationStore,
    private readonly audit: AuditStore,
    private readonly events: EventBus,
  ) {}

  async execute({ skillId, changes, actor }: UpdateSkill): Promise<CountedSkill> {
    const touched = await this.database.transaction(async (tx) => {
      const before = await this.skills.get(skillId, tx);
      const after = {
        id: before.id,
        name: changes.name ?? before.name,
        description: changes.description ?? before.description,
        prototypes: changes.prototypes ?? before.prototypes,
        isActive: changes.isActive ?? before.isActive,
      };
      await this.skills.update(after, tx);
      const left = after.isActive ? [] : await this.classifications.removeSkill(skillId, tx);
      await this.classifications.requeueAll(tx);
      const given = Object.entries(changes).filter(([, value]) => value !== undefined);
      const details = { skill_id: skillId, fields: given.map(([field]) => field) };
      await this.audit.record({ event: 'skill.updated', actor, details }, tx);
      return left;
    });
    if (touched.length > 0) {
      const servers = new Set(touched.map((tool) => tool.serverId));
      this.events.publish(
        new ToolsClassified(
          [...servers],
          touched.map((tool) => tool.id),
        ),
      );
    }
    this.events.publish(new SkillsChanged(skillId));
    return this.skills.get(skillId);
  }
}
