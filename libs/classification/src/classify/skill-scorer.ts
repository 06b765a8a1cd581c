import { atOnce, type Sliced } from '@app/platform';
import { blend, dot, type StaticModel, VectorMemory } from '@app/vectors';
import type { SkillHead } from '../skills/skill-head.js';
import type { Assignment, Skill } from '../skills/skill.js';

/**
 * Weight of the server's topic in a tool's vector, and of the server's own text in that topic: measured in
 * bench/CLASSIFICATION.md. "Run" alone says little, "run" of a database server much.
 */
const TOPIC_SHARE = 1.5;
const SERVER_TEXT_SHARE = 0.35;
/** Weight of the mean score of a server's tools beside the score of one tool. */
const PEERS_SHARE = 0.5;
/**
 * Mean cosine between the tools of a server. Below the first they have no common topic (a server that collects tools
 * of many services), from the second on they have one.
 */
const COHERENCE = { none: 0.1, full: 0.2 };
/** Of fewer tools the mean cosine says too little: they count as one topic. */
const MIN_TOOLS_OF_COLLECTION = 5;

/** Where the vectors of a skill are in memory: its prototypes, and after them its weights if it has some. */
interface SkillRows {
  readonly id: string;
  readonly first: number;
  readonly prototypes: number;
  readonly isTrained: boolean;
}

/** What the tools of a server have in common. */
interface Topic {
  readonly vector: Float32Array | undefined;
  readonly server: Float32Array | undefined;
  /** 0…1. */
  readonly weight: number;
}

/** Scores skills by their nearest prototypes, corrected by a small trained head. */
export class SkillScorer {
  private readonly skills: readonly SkillRows[];
  private readonly memory: VectorMemory;
  /** Of the last vector with each row in memory. */
  private readonly products: Float32Array;

  constructor(
    skills: readonly Skill[],
    private readonly model: StaticModel,
    private readonly head: SkillHead,
  ) {
    this.memory = new VectorMemory(model.dimensions);
    let rows = 0;
    this.skills = skills.map((skill) => {
      const texts =
        skill.prototypes.length > 0 ? skill.prototypes : [`${skill.name}. ${skill.description}`];
      const prototypes = texts.flatMap((text) => model.embed(text) ?? []);
      const weights = head.weightsOf(skill.id);
      const first = rows;
      for (const row of weights ? [...prototypes, weights] : prototypes) {
        this.memory.set(rows++, row);
      }
      const isTrained = weights !== undefined;
      return { id: skill.id, first, prototypes: prototypes.length, isTrained };
    });
    this.products = new Float32Array(rows);
  }

  /** Every skill with its calibrated confidence, in taxonomy order. */
  score(vector: Float32Array): Assignment[] {
    return this.assignments(this.logShares(vector), 0);
  }

  /**
   * Scores for some tools of a server, each in the context of the server's text and of its other tools (`peers`, these
   * among them). Undefined for a text without a known word.
   */
  scoreTools(
    server: string,
    tools: readonly string[],
    peers = tools,
  ): readonly (Assignment[] | undefined)[] {
    return atOnce(this.scoring(server, tools, peers));
  }

  /** The same in slices. */
  *scoring(
    server: string,
    tools: readonly string[],
    peers: readonly string[],
  ): Sliced<readonly (Assignment[] | undefined)[]> {
    const vectors = new Map<string, Float32Array | undefined>();
    for (const text of [...tools, ...peers]) {
      yield;
      if (!vectors.has(text)) vectors.set(text, this.model.embed(text));
    }
    const known = peers.flatMap((text) => vectors.get(text) ?? []);
    const topic = topicOf(known, this.model.embed(server));
    // Most tools are among the peers, and are scored once.
    const scored = new Map<Float32Array, readonly number[]>();
    const sharesOf = (vector: Float32Array): readonly number[] => {
      const shares = scored.get(vector) ?? this.logShares(inTopic(vector, topic));
      scored.set(vector, shares);
      return shares;
    };
    const vote = known.length > 1 ? topic.weight : 0;
    const sums = this.skills.map(() => 0);
    for (const vector of vote > 0 ? known : []) {
      yield;
      sharesOf(vector).forEach((share, i) => (sums[i] = (sums[i] ?? 0) + share));
    }
    const mean = sums.map((sum) => sum / Math.max(known.length, 1));
    const scores: (Assignment[] | undefined)[] = [];
    for (const text of tools) {
      yield;
      const vector = vectors.get(text);
      const shares = vector && sharesOf(vector);
      scores.push(
        shares &&
          this.assignments(
            shares.map((share, i) => share + PEERS_SHARE * vote * (mean[i] ?? 0)),
            vote,
          ),
      );
    }
    return scores;
  }

  /** The logarithm of each skill's share, in taxonomy order. */
  private logShares(vector: Float32Array): number[] {
    const { products } = this;
    this.memory.compare([vector], products.length, (_, first, scores) => {
      products.set(scores, first);
    });
    const logits = this.skills.map(({ id, first, prototypes, isTrained }) => {
      const weights = first + prototypes;
      let nearest = 0;
      for (let row = first; row < weights; row++) nearest = Math.max(nearest, products[row] ?? 0);
      return this.head.logit(id, nearest, isTrained ? (products[weights] ?? 0) : 0);
    });
    const total = logOfSum(logits);
    return logits.map((logit) => logit - total);
  }

  private assignments(logits: readonly number[], vote: number): Assignment[] {
    const total = logOfSum(logits);
    const [first = 0, second = 0] = logits.toSorted((a, b) => b - a);
    return this.skills.map(({ id }, i) => {
      const logit = logits[i] ?? 0;
      const lead = logit - (logit === first ? second : first);
      return { skillId: id, confidence: this.head.calibrate(Math.exp(logit - total), lead, vote) };
    });
  }
}

function topicOf(peers: readonly Float32Array[], server: Float32Array | undefined): Topic {
  const count = peers.length;
  const vector = blend([
    ...peers.map((peer) => [peer, 1 / Math.max(count, 1)] as const),
    [server, SERVER_TEXT_SHARE],
  ]);
  if (count < MIN_TOOLS_OF_COLLECTION) return { vector, server, weight: 1 };
  // The squared length of the sum of unit vectors is their number plus the cosines of all pairs.
  const sum = new Float32Array(peers[0]?.length ?? 0);
  for (const peer of peers) {
    for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (peer[i] ?? 0);
  }
  const coherence = (dot(sum, sum) - count) / (count * (count - 1));
  const weight = (coherence - COHERENCE.none) / (COHERENCE.full - COHERENCE.none);
  return { vector, server, weight: Math.min(1, Math.max(0, weight)) };
}

function inTopic(tool: Float32Array, { vector, server, weight }: Topic): Float32Array {
  const shifted = blend([
    [tool, 1],
    [vector, TOPIC_SHARE * weight],
    [server, SERVER_TEXT_SHARE * (1 - weight)],
  ]);
  return shifted ?? tool;
}

function logOfSum(logits: readonly number[]): number {
  const highest = Math.max(...logits);
  return highest + Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit - highest), 0));
}
