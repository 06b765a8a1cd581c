// nest build && node bench/classification/train-head.mjs ../shared/eval
// Writes libs/classification/model/head.json from the labelled descriptions of classify.dev.jsonl.
import { writeFileSync } from 'node:fs';
import { SkillHead } from '../../dist/libs/classification/src/skill-head.js';
import { SkillScorer } from '../../dist/libs/classification/src/skill-scorer.js';
import { seedSkills } from '../../dist/migrations/1763470100000-skills.js';
import { dot, StaticModel } from '../../dist/libs/vectors/src/index.js';
import { readLabelled, withVectors } from './data.mjs';

const DECAY = 1e-3;
const STEPS = 400;
const RATE = 0.1;
const FOLDS = 5;

const model = StaticModel.load();
const skills = seedSkills.map((skill) => ({ ...skill, description: '', isActive: true }));
const prototypes = skills.map((skill) => skill.prototypes.map((text) => model.embed(text)));
const untrained = { logit: () => 0, calibrate: (share) => share };
const rows = withVectors(
  readLabelled(process.argv[2] ?? '../shared/eval'),
  new SkillScorer(skills, model, untrained),
  model,
).map((row) => ({
  ...row,
  nearest: prototypes.map((list) => Math.max(...list.map((one) => dot(one, row.vector)))),
  target: skills.map(({ id }) => (row.skills.includes(id) ? 1 / row.skills.length : 0)),
}));
const training = rows.filter((row) => row.server === undefined);

// Calibration must not see what the head was trained on: every text is scored by a head without it.
const shares = [];
for (let fold = 0; fold < FOLDS; fold++) {
  const head = train(training.filter((_, i) => i % FOLDS !== fold));
  for (const row of training.filter((_, i) => i % FOLDS === fold))
    shares.push(...outcomes(head, row));
}
const head = train(training);
for (const row of rows.filter((candidate) => candidate.set === 'livemcp tools')) {
  shares.push(...outcomes(head, row));
}
const { slope, offset } = platt(shares);

writeFileSync(
  new URL('../../libs/classification/model/head.json', import.meta.url),
  `${JSON.stringify(
    {
      model_id: model.id,
      prototype_scale: round(head.scale),
      calibration: { slope: round(slope), offset: round(offset) },
      skills: Object.fromEntries(
        skills.map(({ id }, s) => [
          id,
          {
            bias: round(head.bias[s]),
            weights: Buffer.from(Float32Array.from(head.weights[s]).buffer).toString('base64'),
          },
        ]),
      ),
    },
    null,
    2,
  )}\n`,
);
SkillHead.load(model.id);
console.log(`prototype scale ${round(head.scale)}, slope ${round(slope)}, offset ${round(offset)}`);

/** Softmax regression on top of the prototypes, full batch, Adam. */
function train(samples) {
  const size = model.dimensions;
  const parameters = {
    weights: skills.map(() => new Float64Array(size)),
    bias: new Float64Array(skills.length),
    scale: 10,
  };
  const flat = [...parameters.weights, parameters.bias, new Float64Array([parameters.scale])];
  const first = flat.map((values) => new Float64Array(values.length));
  const second = flat.map((values) => new Float64Array(values.length));
  for (let step = 1; step <= STEPS; step++) {
    const gradient = flat.map((values) => new Float64Array(values.length));
    for (const row of samples) {
      const share = softmax(logits(flat, row));
      for (let s = 0; s < skills.length; s++) {
        const error = (share[s] - row.target[s]) / samples.length;
        const weights = gradient[s];
        for (let i = 0; i < size; i++) weights[i] += error * row.vector[i];
        gradient[skills.length][s] += error;
        gradient[skills.length + 1][0] += error * row.nearest[s];
      }
    }
    flat.forEach((values, p) => {
      const decay = p <= skills.length ? DECAY : 0;
      for (let i = 0; i < values.length; i++) {
        const slope = gradient[p][i] + decay * values[i];
        first[p][i] = 0.9 * first[p][i] + 0.1 * slope;
        second[p][i] = 0.999 * second[p][i] + 0.001 * slope * slope;
        const mean = first[p][i] / (1 - 0.9 ** step);
        const spread = Math.sqrt(second[p][i] / (1 - 0.999 ** step)) + 1e-8;
        values[i] -= (RATE * mean) / spread;
      }
    });
  }
  return {
    flat,
    weights: flat.slice(0, skills.length),
    bias: flat[skills.length],
    scale: flat[skills.length + 1][0],
  };
}

function logits(flat, row) {
  const scale = flat[skills.length + 1][0];
  return skills.map(
    (_, s) => scale * row.nearest[s] + dot(flat[s], row.vector) + flat[skills.length][s],
  );
}

function softmax(values) {
  const highest = Math.max(...values);
  const powers = values.map((value) => Math.exp(value - highest));
  const total = powers.reduce((sum, power) => sum + power, 0);
  return powers.map((power) => power / total);
}

/** Of the three best skills, whether each is right: what a confidence has to predict. */
function outcomes(trained, row) {
  return softmax(logits(trained.flat, row))
    .map((share, s) => ({ share, right: row.skills.includes(skills[s].id) ? 1 : 0 }))
    .sort((a, b) => b.share - a.share)
    .slice(0, 3);
}

/** Logistic regression of right on the log odds of the share. */
function platt(pairs) {
  let slope = 1;
  let offset = 0;
  for (let step = 0; step < 5_000; step++) {
    let bySlope = 0;
    let byOffset = 0;
    for (const { share, right } of pairs) {
      const odds = Math.log(share / (1 - share));
      const error = 1 / (1 + Math.exp(-(slope * odds + offset))) - right;
      bySlope += (error * odds) / pairs.length;
      byOffset += error / pairs.length;
    }
    slope -= 0.5 * bySlope;
    offset -= 0.5 * byOffset;
  }
  return { slope, offset };
}

function round(value) {
  return Number(value.toFixed(4));
}
