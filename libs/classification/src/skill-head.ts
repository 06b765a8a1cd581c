import { installedFolder } from '@app/platform';
import { dot } from '@app/vectors';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const float32 = z
  .base64()
  .transform((text) => new Float32Array(new Uint8Array(Buffer.from(text, 'base64')).buffer));

const headSchema = z.object({
  /** The space its weights live in. */
  model_id: z.string(),
  prototype_scale: z.number(),
  calibration: z.object({ slope: z.number(), offset: z.number() }),
  skills: z.record(z.string(), z.object({ bias: z.number(), weights: float32 })),
});

/**
 * What training on labelled descriptions added to the prototypes: one row of weights a skill, and
 * how sure an answer really is. A skill made later has no row and lives by its prototypes.
 */
export class SkillHead {
  private constructor(private readonly parts: z.infer<typeof headSchema>) {}

  static load(modelId: string): SkillHead {
    const folder = installedFolder('libs/classification/model', import.meta.url);
    const file: unknown = JSON.parse(readFileSync(join(folder, 'head.json'), 'utf8'));
    const parts = headSchema.parse(file);
    // Weights of another space would be noise; prototypes work in any.
    return new SkillHead(parts.model_id === modelId ? parts : { ...parts, skills: {} });
  }

  logit(skillId: string, nearestPrototype: number, vector: Float32Array): number {
    const learned = this.parts.skills[skillId];
    const correction = learned ? learned.bias + dot(learned.weights, vector) : 0;
    return this.parts.prototype_scale * nearestPrototype + correction;
  }

  /** The chance that the answer is right, from its share among all skills (Platt scaling). */
  calibrate(share: number): number {
    const { slope, offset } = this.parts.calibration;
    const odds = Math.log(Math.max(share, 1e-9) / Math.max(1 - share, 1e-9));
    return 1 / (1 + Math.exp(-(slope * odds + offset)));
  }
}
