import { blend, dot, type StaticModel } from '@app/vectors';
import type { SkillHead } from './skill-head.js';
import type { Assignment, Skill } from './skill.js';

/**
 * How much a tool's server says about the tool, and how much the server's own words say about the
 * server: measured in bench/CLASSIFICATION.md. "Run" says little, "run" of a database server much.
 */
const CONTEXT_SHARE = 1.5;
const SERVER_TEXT_SHARE = 0.5;

interface SkillVectors {
  readonly id: string;
  readonly prototypes: readonly Float32Array[];
}

/** Skills of a text by its nearest prototypes, corrected by what a small trained head has learned. */
export class SkillScorer {
  private readonly skills: readonly SkillVectors[];

  constructor(
    skills: readonly Skill[],
    private readonly model: StaticModel,
    private readonly head: SkillHead,
  ) {
    this.skills = skills.map((skill) => ({
      id: skill.id,
      prototypes: (skill.prototypes.length > 0
        ? skill.prototypes
        : [`${skill.name}. ${skill.description}`]
      ).flatMap((text) => model.embed(text) ?? []),
    }));
  }

  /** Every skill with its calibrated confidence, in the order of the taxonomy. */
  score(vector: Float32Array): Assignment[] {
    const logits = this.skills.map(({ id, prototypes }) => {
      const nearest = prototypes.reduce((best, one) => Math.max(best, dot(vector, one)), 0);
      return this.head.logit(id, nearest, vector);
    });
    const highest = Math.max(...logits);
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0);
    return this.skills.map(({ id }, i) => {
      const share = Math.exp((logits[i] ?? 0) - highest) / total;
      return { skillId: id, confidence: this.head.calibrate(share) };
    });
  }

  /** Vectors of one server's tools, each leaning towards what the server is about: its own text, and its peers. */
  inContext(
    server: string,
    tools: readonly string[],
    peers = tools,
  ): readonly (Float32Array | undefined)[] {
    const vectors = new Map<string, Float32Array | undefined>();
    for (const text of [...tools, ...peers]) {
      if (!vectors.has(text)) vectors.set(text, this.model.embed(text));
    }
    const known = peers.flatMap((text) => vectors.get(text) ?? []);
    const context = blend([
      ...known.map((vector) => [vector, 1 / Math.max(known.length, 1)] as const),
      [this.model.embed(server), SERVER_TEXT_SHARE],
    ]);
    return tools.map((text) =>
      blend([
        [vectors.get(text), 1],
        [context, CONTEXT_SHARE],
      ]),
    );
  }
}
