import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AppError, CoalescedRuns } from '@app/platform';
import { type SkillMember, SkillVectors } from '@app/vectors';
import { AssignmentStore } from '../classify/assignment.store.js';
import { textOfSkill } from './skill.js';
import { SkillStore } from './skill.store.js';

const LOOK_AGAIN_MS = 30_000;

/** Mirrors skills to Qdrant, if configured; one run at a time. */
@Injectable()
export class IndexSkillsJob {
  private readonly logger = new Logger(IndexSkillsJob.name);
  private readonly runs = new CoalescedRuns();
  private problem: string | undefined;

  constructor(
    private readonly vectors: SkillVectors,
    private readonly skills: SkillStore,
    private readonly assignments: AssignmentStore,
  ) {}

  /** Also picks up vectors that were computed later, and retries after a failure. */
  @Interval(LOOK_AGAIN_MS)
  index(): Promise<void> {
    if (!this.vectors.isKept) return Promise.resolve();
    return this.runs.run('skills', () => this.run());
  }

  private async run(): Promise<void> {
    try {
      await this.converge();
      this.problem = undefined;
    } catch (error) {
      const problem = error instanceof AppError ? error.message : 'The skills cannot be indexed';
      // Log a problem once, not per run; without the cause, whose text may contain an API key.
      if (problem !== this.problem) this.logger.warn({ reason: problem }, 'skills.not_indexed');
      this.problem = problem;
    }
  }

  private async converge(): Promise<void> {
    const members = new Map<string, SkillMember[]>();
    for (const { skillId, toolId, confidence } of await this.assignments.of()) {
      const known = members.get(skillId);
      if (known) known.push({ toolId, confidence });
      else members.set(skillId, [{ toolId, confidence }]);
    }
    const skills = await this.skills.active();
    await this.vectors.converge(
      skills.map(({ id, name, description }) => {
        const own = members.get(id) ?? [];
        return {
          text: textOfSkill({ name, description }),
          payload: { skill_id: id, name, description, tool_count: own.length },
          members: own,
        };
      }),
    );
  }
}
