import { Injectable, Logger } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { AppError } from '@app/platform';
import { type SkillMember, SkillVectors } from '@app/vectors';
import { ClassificationStore } from './classification.store.js';
import { textOfSkill } from './skill.js';
import { SkillStore } from './skill.store.js';

const LOOK_AGAIN_MS = 30_000;

/** Keeps the skills where other programs search them, if anywhere; one run at a time. */
@Injectable()
export class IndexSkillsJob {
  private readonly logger = new Logger(IndexSkillsJob.name);
  private running: Promise<void> | undefined;
  private wanted = false;
  private problem: string | undefined;

  constructor(
    private readonly vectors: SkillVectors,
    private readonly skills: SkillStore,
    private readonly classifications: ClassificationStore,
  ) {}

  /** Also finds what came of vectors that were made later, and mends after a failure. */
  @Interval(LOOK_AGAIN_MS)
  index(): Promise<void> {
    if (!this.vectors.isKept) return Promise.resolve();
    this.wanted = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
      // Asked for between the last look and the end of the run.
      if (this.wanted) void this.index();
    });
    return this.running;
  }

  private async run(): Promise<void> {
    while (this.wanted) {
      this.wanted = false;
      try {
        await this.converge();
        this.problem = undefined;
      } catch (error) {
        const problem = error instanceof AppError ? error.message : 'The skills cannot be indexed';
        // Once, not every time; without the cause, whose text may repeat a key.
        if (problem !== this.problem) this.logger.warn(problem);
        this.problem = problem;
      }
    }
  }

  private async converge(): Promise<void> {
    const members = new Map<string, SkillMember[]>();
    for (const { skillId, toolId, confidence } of await this.classifications.assignments()) {
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
