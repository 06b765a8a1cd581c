import { installedFolder } from '@app/platform';
import { vectorIn } from '@app/vectors';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const float32 = z.base64().transform((text) => vectorIn(Buffer.from(text, 'base64')));

const calibrationSchema = z.object({ slope: z.number(), lead: z.number(), offset: z.number() });

const headSchema = z.object({
  /** The embedding model that the weights were trained for. */
  model_id: z.string(),
  prototype_scale: z.number(),
  /** For a text by itself, and for a tool in the context of its server. */
  calibration: calibrationSchema,
  calibration_in_topic: calibrationSchema,
  skills: z.record(z.string(), z.object({ bias: z.number(), weights: float32 })),
});

/**
 * A head trained on labelled descriptions: a row of weights per skill that corrects the prototype score, and the
 * calibration of confidence. A skill added later has no weights and is scored by its prototypes.
 */
export class SkillHead {
  private constructor(private readonly parts: z.infer<typeof headSchema>) {}

  static load(modelId: string): SkillHead {
    const folder = installedFolder('libs/classification/model', import.meta.url);
    const file: unknown = JSON.parse(readFileSync(join(folder, 'head.json'), 'utf8'));
    const parts = headSchema.parse(file);
    // Weights for another model are meaningless; prototypes work with any model.
    return new SkillHead(parts.model_id === modelId ? parts : { ...parts, skills: {} });
  }

  /** The row of weights of a skill; undefined for one that was not trained. */
  weightsOf(skillId: string): Float32Array | undefined {
    return this.parts.skills[skillId]?.weights;
  }

  /** `product` is that of the vector of a text and the weights. */
  logit(skillId: string, nearestPrototype: number, product: number): number {
    const bias = this.parts.skills[skillId]?.bias ?? 0;
    return this.parts.prototype_scale * nearestPrototype + bias + product;
  }

  /**
   * Probability that the answer is right, from its share among all skills (Platt scaling) and its lead: how much larger
   * that is than the share of the next skill, as a logarithm. With the same share a small lead is better, because the
   * rest is then one other skill and not a bit of all. `topic` (0…1) is how much the tools of the server took part.
   */
  calibrate(share: number, lead: number, topic: number): number {
    const { calibration: alone, calibration_in_topic: among } = this.parts;
    const between = (part: keyof typeof alone): number =>
      alone[part] + topic * (among[part] - alone[part]);
    const odds = Math.log(Math.max(share, 1e-9) / Math.max(1 - share, 1e-9));
    return (
      1 / (1 + Math.exp(-(between('slope') * odds + between('lead') * lead + between('offset'))))
    );
  }
}
