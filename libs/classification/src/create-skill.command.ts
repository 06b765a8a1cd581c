import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { SkillsChanged } from '@app/events';
import { Database } from '@app/platform';
import { ClassificationStore } from './classification.store.js';
import type { Skill } from './skill.js';
import { type CountedSkill, SkillStore } from './skill.store.js';

/** Adds a skill; tools are looked at again in its light. */
export class CreateSkill extends Command<CountedSkill> {
  constructor(
    readonly skill: Omit<Skill, 'isActive'>,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(CreateSkill)
export class CreateSkillHandler implements ICommandHandler<CreateSkill> {
  constructor(
    private readonly database: Database,
    private readonly skills: SkillStore,
    private readonly classifications: ClassificationStore,
    private readonly audit: AuditStore,
    private readonly events: EventBus,
  ) {}

  async execute({ skill, actor }: CreateSkill): Promise<CountedSkill> {
    await this.database.transaction(async (tx) => {
      await this.skills.insert({ ...skill, isActive: true }, tx);
      await this.classifications.requeueAll(tx);
      const details = { skill_id: skill.id };
      await this.audit.record({ event: 'skill.created', actor, details }, tx);
    });
    this.events.publish(new SkillsChanged(skill.id));
    return { ...skill, isActive: true, toolCount: 0 };
  }
}
