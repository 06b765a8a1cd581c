import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { Catalogue } from '@app/catalogue';
import { SkillsChanged, ToolsClassified } from '@app/events';
import { Database, Signals } from '@app/platform';
import { AssignmentStore } from '../classify/assignment.store.js';
import { ClassificationQueue } from '../classify/classification-queue.store.js';
import type { Skill } from './skill.js';
import { type CountedSkill, SkillStore } from './skill.store.js';

export type SkillChanges = { readonly [K in keyof Omit<Skill, 'id'>]?: Skill[K] | undefined };

/** Changes a skill or switches it on or off; all tools are classified again. */
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
    private readonly assignments: AssignmentStore,
    private readonly queue: ClassificationQueue,
    private readonly audit: AuditStore,
    private readonly catalogue: Catalogue,
    private readonly signals: Signals,
  ) {}

  async execute({ skillId, changes, actor }: UpdateSkill): Promise<CountedSkill> {
    const touched = await this.database.bulk.transaction(async (tx) => {
      const before = await this.skills.get(skillId, tx);
      const after = {
        id: before.id,
        name: changes.name ?? before.name,
        description: changes.description ?? before.description,
        prototypes: changes.prototypes ?? before.prototypes,
        isActive: changes.isActive ?? before.isActive,
      };
      await this.skills.update(after, tx);
      const left = after.isActive ? [] : await this.assignments.removeSkill(skillId, tx);
      await this.queue.requeueAll(tx);
      const given = Object.entries(changes).filter(([, value]) => value !== undefined);
      const details = { skill_id: skillId, fields: given.map(([field]) => field) };
      await this.audit.record({ event: 'skill.updated', actor, details }, tx);
      return left;
    });
    if (touched.length > 0) {
      const { toolsById } = this.catalogue.current;
      const servers = new Set(touched.flatMap((id) => toolsById.get(id)?.serverId || []));
      await this.signals.tell(new ToolsClassified([...servers], touched));
    }
    await this.signals.tell(new SkillsChanged(skillId));
    return this.skills.get(skillId);
  }
}
