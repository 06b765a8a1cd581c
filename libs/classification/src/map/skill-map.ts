import { Injectable, Logger } from '@nestjs/common';
import { Catalogue, type CatalogueTool, itemOf, textOfTool } from '@app/catalogue';
import { CoalescedRuns, inSlices, type Sliced } from '@app/platform';
import { blend, StaticModel, ToolVectors } from '@app/vectors';
import { AssignmentStore } from '../classify/assignment.store.js';
import { type Assignment, type Skill, textOfSkill } from '../skills/skill.js';
import { SkillStore } from '../skills/skill.store.js';

export interface MappedSkill {
  readonly id: string;
  readonly name: string;
  readonly toolCount: number;
  /** Mean vector of its tools, weighted by confidence; without tools, the vector of its own text. */
  readonly vector: Float32Array | undefined;
}

/** The tools of a skill, summed up. */
class Members {
  count = 0;
  private readonly sum: Float32Array;

  constructor(dimensions: number) {
    this.sum = new Float32Array(dimensions);
  }

  add(vector: Float32Array | undefined, confidence: number): void {
    this.count += 1;
    const { sum } = this;
    for (let i = 0; vector && i < sum.length; i++) {
      sum[i] = (sum[i] ?? 0) + confidence * (vector[i] ?? 0);
    }
  }

  mean(): Float32Array | undefined {
    return blend([[this.sum, 1]]);
  }
}

/** In-memory map of active skills and their vectors. Always recomputed as a whole, so that no stale entry remains. */
@Injectable()
export class SkillMap {
  private readonly logger = new Logger(SkillMap.name);
  private skills: readonly MappedSkill[] = [];
  /** By tool. */
  private assigned = new Map<number, Assignment[]>();
  private mustReadAll = true;
  /** Tools to read again. */
  private readonly changed = new Set<number>();
  private readonly runs = new CoalescedRuns();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly model: StaticModel,
    private readonly indexed: ToolVectors,
    private readonly skillStore: SkillStore,
    private readonly assignments: AssignmentStore,
  ) {}

  /** Ordered by id. */
  get current(): readonly MappedSkill[] {
    return this.skills;
  }

  /**
   * Resolves when the map matches the rows: of these tools, or of all. The first classification of a large catalogue
   * tells of its tools by and by, and reading all rows each time would take as long as the number of tools squared.
   */
  refresh(toolIds?: readonly number[]): Promise<void> {
    if (!toolIds) this.mustReadAll = true;
    else for (const id of toolIds) this.changed.add(id);
    return this.runs.run('map', async () => {
      try {
        this.skills = await this.draw();
      } catch (error) {
        this.mustReadAll = true;
        this.logger.error({ err: error }, 'skills.not_read');
      }
    });
  }

  private async draw(): Promise<MappedSkill[]> {
    const skills = await this.skillStore.active();
    const assigned = await this.read();
    await this.indexed.builtInSettled();
    return inSlices(this.drawing(skills, assigned));
  }

  /** The assignments of all tools, of which only those that changed are read again. */
  private async read(): Promise<ReadonlyMap<number, readonly Assignment[]>> {
    const isAll = this.mustReadAll;
    // Requests during the read are answered by the next one.
    this.mustReadAll = false;
    const changed = [...this.changed];
    this.changed.clear();
    if (!isAll && changed.length === 0) return this.assigned;
    const rows = await this.assignments.of(isAll ? undefined : changed);
    const assigned = isAll ? new Map<number, Assignment[]>() : this.assigned;
    for (const id of isAll ? [] : changed) assigned.delete(id);
    for (const { toolId, skillId, confidence } of rows) {
      const own = assigned.get(toolId) ?? [];
      assigned.set(toolId, own);
      own.push({ skillId, confidence });
    }
    return (this.assigned = assigned);
  }

  private *drawing(
    skills: readonly Skill[],
    assigned: ReadonlyMap<number, readonly Assignment[]>,
  ): Sliced<MappedSkill[]> {
    const members = new Map<string, Members>();
    for (const [toolId, own] of assigned) {
      const tool = this.catalogue.current.toolsById.get(toolId);
      if (!tool) continue;
      yield;
      const vector = this.vectorOf(tool);
      for (const { skillId, confidence } of own) {
        let all = members.get(skillId);
        if (!all) members.set(skillId, (all = new Members(this.model.dimensions)));
        all.add(vector, confidence);
      }
    }
    const mapped: MappedSkill[] = [];
    for (const skill of skills) {
      yield;
      const own = members.get(skill.id);
      const vector = own?.mean() ?? this.model.embed(textOfSkill(skill));
      mapped.push({ id: skill.id, name: skill.name, toolCount: own?.count ?? 0, vector });
    }
    return mapped;
  }

  /** That of the index: another one of each of 100,000 tools would take 100 MB and seconds of every start. */
  private vectorOf(tool: CatalogueTool): Float32Array | undefined {
    return this.indexed.builtInVectorOf(itemOf(tool)) ?? this.model.embed(textOfTool(tool));
  }
}
