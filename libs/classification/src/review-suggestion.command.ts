import { Command, CommandHandler, EventBus, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { SkillsChanged } from '@app/events';
import { Database } from '@app/platform';
import { ClassificationStore } from './classification.store.js';
import { skillIdOf } from './skill.js';
import { SkillStore } from './skill.store.js';
import { type SuggestionStatus, SuggestionStore } from './suggestion.store.js';

/** Approving makes the suggested skill part of the taxonomy; the id of the new skill. */
export class ReviewSuggestion extends Command<{ skillId: string | null }> {
  constructor(
    readonly suggestionId: number,
    readonly verdict: Exclude<SuggestionStatus, 'PENDING'>,
    readonly actor: Actor,
  ) {
    super();
  }
}

@CommandHandler(ReviewSuggestion)
export class ReviewSuggestionHandler implements ICommandHandler<ReviewSuggestion> {
  constructor(
    private readonly database: Database,
    private readonly suggestions: SuggestionStore,
    private readonly skills: SkillStore,
    private readonly classifications: ClassificationStore,
    private readonly audit: AuditStore,
    private readonly events: EventBus,
  ) {}

  async execute({
    suggestionId,
    verdict,
    actor,
  }: ReviewSuggestion): Promise<{ skillId: string | null }> {
    const skillId = await this.database.transaction(async (tx) => {
      const { name, description } = await this.suggestions.lockPending(suggestionId, tx);
      await this.suggestions.review(suggestionId, verdict, actor.name, tx);
      const id = verdict === 'APPROVED' ? skillIdOf(name) : null;
      if (id !== null) {
        const prototypes = [description || name];
        await this.skills.insert({ id, name, description, prototypes, isActive: true }, tx);
        await this.classifications.requeueAll(tx);
      }
      const event = `suggestion.${verdict.toLowerCase()}`;
      const details = { suggestion_id: suggestionId, skill_id: id };
      await this.audit.record({ event, actor, details }, tx);
      return id;
    });
    if (skillId !== null) this.events.publish(new SkillsChanged(skillId));
    return { skillId };
  }
}
