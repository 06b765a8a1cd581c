import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { SkillsChanged } from '@app/events';
import { Database, Signals } from '@app/platform';
import { ClassificationQueue } from '../classify/classification-queue.store.js';
import type { Skill } from './skill.js';
import { type CountedSkill, SkillStore } from './skill.store.js';

/** Adds a skill; all tools are classified again. */
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
    private readonly queue: ClassificationQueue,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
  ) {}

  async execute({ skill, actor }: CreateSkill): Promise<CountedSkill> {
    await this.database.bulk.transaction(async (tx) => {
      await this.skills.insert({ ...skill, isActive: true }, tx);
      await this.queue.requeueAll(tx);
      const details = { skill_id: skill.id };
      await this.audit.record({ event: 'skill.created', actor, details }, tx);
    });
    await this.signals.tell(new SkillsChanged(skill.id));
    return { ...skill, isActive: true, toolCount: 0 };
  }
}
