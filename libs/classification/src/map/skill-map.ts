import { Injectable, Logger } from '@nestjs/common';
import { Catalogue, type CatalogueTool, textOfTool } from '@app/catalogue';
import { CoalescedRuns } from '@app/platform';
import { blend, StaticModel } from '@app/vectors';
import { AssignmentStore } from '../classify/assignment.store.js';
import { textOfSkill } from '../skills/skill.js';
import { SkillStore } from '../skills/skill.store.js';

export interface MappedSkill {
  readonly id: string;
  readonly name: string;
  readonly toolCount: number;
  /** Mean vector of its tools, weighted by confidence; without tools, the vector of its own text. */
  readonly vector: Float32Array | undefined;
}

/** In-memory map of active skills and their vectors. Always recomputed as a whole, so that no stale entry remains. */
@Injectable()
export class SkillMap {
  private readonly logger = new Logger(SkillMap.name);
  /** Vectors per tool object: after a reload only changed tools are new objects. */
  private readonly vectors = new WeakMap<CatalogueTool, Float32Array | undefined>();
  private skills: readonly MappedSkill[] = [];
  private readonly runs = new CoalescedRuns();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly model: StaticModel,
    private readonly skillStore: SkillStore,
    private readonly assignments: AssignmentStore,
  ) {}

  /** Ordered by id. */
  get current(): readonly MappedSkill[] {
    return this.skills;
  }

  /** Resolves when the map matches the rows. */
  refresh(): Promise<void> {
    return this.runs.run('map', async () => {
      try {
        this.skills = await this.draw();
      } catch (error) {
        this.logger.error({ err: error }, 'skills.not_read');
      }
    });
  }

  private async draw(): Promise<MappedSkill[]> {
    const skills = await this.skillStore.active();
    const members = new Map<string, [Float32Array | undefined, number][]>();
    for (const { toolId, skillId, confidence } of await this.assignments.all()) {
      const tool = this.catalogue.current.toolsById.get(toolId);
      if (!tool) continue;
      const list = members.get(skillId) ?? [];
      members.set(skillId, list);
      list.push([this.vectorOf(tool), confidence]);
    }
    return skills.map((skill) => {
      const own = members.get(skill.id) ?? [];
      const vector = blend(own) ?? this.model.embed(textOfSkill(skill));
      return { id: skill.id, name: skill.name, toolCount: own.length, vector };
    });
  }

  private vectorOf(tool: CatalogueTool): Float32Array | undefined {
    if (!this.vectors.has(tool)) this.vectors.set(tool, this.model.embed(textOfTool(tool)));
    return this.vectors.get(tool);
  }
}
