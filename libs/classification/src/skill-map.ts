import { Injectable, Logger } from '@nestjs/common';
import { Catalogue, type CatalogueTool, textOfTool } from '@app/discovery';
import { blend, StaticModel } from '@app/vectors';
import { ClassificationStore } from './classification.store.js';
import { textOfSkill } from './skill.js';
import { SkillStore } from './skill.store.js';

export interface MappedSkill {
  readonly id: string;
  readonly name: string;
  readonly toolCount: number;
  /** Where its tools are: their vectors weighted by confidence; without tools what it says of itself. */
  readonly vector: Float32Array | undefined;
}

/** Active skills and where they lie, in memory; always computed whole, so that nothing stale stays. */
@Injectable()
export class SkillMap {
  private readonly logger = new Logger(SkillMap.name);
  /** Reloading a server's tools makes new objects of it alone; the others keep their vectors. */
  private readonly vectors = new WeakMap<CatalogueTool, Float32Array | undefined>();
  private skills: readonly MappedSkill[] = [];
  private running: Promise<void> | undefined;
  private wanted = false;

  constructor(
    private readonly catalogue: Catalogue,
    private readonly model: StaticModel,
    private readonly skillStore: SkillStore,
    private readonly classifications: ClassificationStore,
  ) {}

  /** By id. */
  get current(): readonly MappedSkill[] {
    return this.skills;
  }

  /** Resolves when the map is that of the rows. */
  refresh(): Promise<void> {
    this.wanted = true;
    this.running ??= this.run().finally(() => {
      this.running = undefined;
      if (this.wanted) void this.refresh();
    });
    return this.running;
  }

  private async run(): Promise<void> {
    while (this.wanted) {
      this.wanted = false;
      try {
        this.skills = await this.draw();
      } catch (error) {
        this.logger.error({ err: error }, 'the skills cannot be read');
      }
    }
  }

  private async draw(): Promise<MappedSkill[]> {
    const skills = await this.skillStore.active();
    const members = new Map<string, [Float32Array | undefined, number][]>();
    for (const { toolId, skillId, confidence } of await this.classifications.assignments()) {
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
