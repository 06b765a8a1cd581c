// nest build && node bench/classification/train-head.mjs ../shared/eval
// Writes libs/classification/model/head.json from the labelled descriptions of classify.dev.jsonl.
import { writeFileSync } from 'node:fs';
import { SkillHead } from '../../dist/libs/classification/src/skills/skill-head.js';
import { SkillScorer } from '../../dist/libs/classification/src/classify/skill-scorer.js';
import { seedSkills } from '../../dist/migrations/1763470100000-skills.js';
import { dot, StaticModel } from '../../dist/libs/vectors/src/index.js';
import { mixed, readLabelled, withScores } from './data.mjs';

const DECAY = 1e-3;
const STEPS = 400;
const RATE = 0.1;
const FOLDS = 5;

const model = StaticModel.load();
const skills = seedSkills.map((skill) => ({ ...skill, description: '', isActive: true }));
const prototypes = skills.map((skill) => skill.prototypes.map((text) => model.embed(text)));
const labelled = readLabelled(process.argv[2] ?? '../shared/eval');
const training = labelled
  .filter((row) => row.server === undefined)
  .flatMap((row) => {
    const vector = model.embed(row.text);
    if (!vector) return [];
    const nearest = prototypes.map((list) => Math.max(...list.map((one) => dot(one, vector))));
    const target = skills.map(({ id }) => (row.skills.includes(id) ? 1 / row.skills.length : 0));
    return [{ ...row, vector, nearest, target }];
  });

// Cross-validation: every text is scored by a head that was not trained on it, so that the calibration is unbiased.
const crossValidated = [];
for (let fold = 0; fold < FOLDS; fold++) {
  const head = train(training.filter((_, i) => i % FOLDS !== fold));
  const held = training.filter((_, i) => i % FOLDS === fold);
  crossValidated.push(...outcomes(head, held));
}
const head = train(training);
const livemcp = labelled.filter((row) => row.set === 'livemcp tools');
const rapidapi = labelled.filter((row) => row.set === 'rapidapi tools');
// Every set counts the same, whatever its size.
const alone = { ...platt([crossValidated, outcomes(head, mixed(livemcp))], 0), lead: 0 };
const inTopic = platt(
  [livemcp, rapidapi].map((rows) => outcomes(head, rows, 1)),
  1,
);
// As sure as possible while no set is less right than by the share alone (docs/decisions/0205).
inTopic.offset = round(inTopic.offset + 0.1);

writeFileSync(
  new URL('../../libs/classification/model/head.json', import.meta.url),
  `${JSON.stringify(
    {
      model_id: model.id,
      prototype_scale: round(head.scale),
      calibration: alone,
      calibration_in_topic: inTopic,
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
console.log({ scale: round(head.scale), alone, inTopic });

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

/** For the best skills of each text, whether each is right: the target of the calibration. */
function outcomes(trained, rows, best = 3) {
  const uncalibrated = {
    logit: (id, nearest, vector) => {
      const s = skills.findIndex((skill) => skill.id === id);
      return trained.scale * nearest + dot(trained.weights[s], vector) + trained.bias[s];
    },
    calibrate: (share) => share,
  };
  const scorer = new SkillScorer(skills, model, uncalibrated);
  return withScores(rows, scorer, model).flatMap(({ scores, skills: right }) =>
    scores
      .toSorted((a, b) => b.confidence - a.confidence)
      .map(({ skillId, confidence }, i, [first, second]) => ({
        share: Math.min(1 - 1e-9, Math.max(1e-9, confidence)),
        lead: Math.log(confidence / (i === 0 ? second : first).confidence),
        right: right.includes(skillId) ? 1 : 0,
      }))
      .slice(0, best),
  );
}

/** Logistic regression of correctness on the log odds of the share, and on the lead if `byLead` is 1. */
function platt(sets, byLead) {
  const pairs = sets.flatMap((set) => set.map((pair) => ({ ...pair, weight: 1 / set.length })));
  let slope = 1;
  let weight = 0;
  let offset = 0;
  for (let step = 0; step < 5_000; step++) {
    let bySlope = 0;
    let byWeight = 0;
    let byOffset = 0;
    for (const { share, lead, right, weight: counts } of pairs) {
      const odds = Math.log(share / (1 - share));
      const error = 1 / (1 + Math.exp(-(slope * odds + weight * lead + offset))) - right;
      bySlope += (error * odds * counts) / sets.length;
      byWeight += (byLead * error * lead * counts) / sets.length;
      byOffset += (error * counts) / sets.length;
    }
    slope -= 0.3 * bySlope;
    weight -= 0.3 * byWeight;
    offset -= 0.3 * byOffset;
  }
  return { slope: round(slope), lead: round(weight), offset: round(offset) };
}

function round(value) {
  return Number(value.toFixed(4));
}
