import { Command, CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { type Actor, AuditStore } from '@app/access';
import { SkillsChanged } from '@app/events';
import { Database, Signals } from '@app/platform';
import { ClassificationQueue } from '../classify/classification-queue.store.js';
import { skillIdOf } from './skill.js';
import { SkillStore } from './skill.store.js';
import { type SuggestionStatus, SuggestionStore } from './suggestion.store.js';

/** Approving adds the suggested skill to the taxonomy; returns the id of the new skill. */
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
    private readonly queue: ClassificationQueue,
    private readonly audit: AuditStore,
    private readonly signals: Signals,
  ) {}

  async execute({
    suggestionId,
    verdict,
    actor,
  }: ReviewSuggestion): Promise<{ skillId: string | null }> {
    const skillId = await this.database.bulk.transaction(async (tx) => {
      const { name, description } = await this.suggestions.lockPending(suggestionId, tx);
      await this.suggestions.review(suggestionId, verdict, actor.name, tx);
      const id = verdict === 'APPROVED' ? skillIdOf(name) : null;
      if (id !== null) {
        const prototypes = [description || name];
        await this.skills.insert({ id, name, description, prototypes, isActive: true }, tx);
        await this.queue.requeueAll(tx);
      }
      const event = `suggestion.${verdict.toLowerCase()}`;
      const details = { suggestion_id: suggestionId, skill_id: id };
      await this.audit.record({ event, actor, details }, tx);
      return id;
    });
    if (skillId !== null) await this.signals.tell(new SkillsChanged(skillId));
    return { skillId };
  }
}
