import { digestOf } from '../../dist/libs/aggregation/src/rank/digest.js';
import { readSet, seeded } from './fleet.mjs';

const DUPLICATES = 0.3;

/** Time to score, deduplicate, sort and cut `count` passages of 1 to 4 kB, a third of them repeated. */
export function measureLatency(json, embed, count, rounds) {
  const { paragraphs, questions } = readSet(json);
  const random = seeded(count);
  const passages = passagesOf(paragraphs, count, random);
  const run = ({ text: query }) =>
    digestOf({ query, passages, embed, weights: new Map() }, { maxResults: 30, maxTokens: 6_000 });
  const usedBefore = process.cpuUsage();
  const times = questions.slice(0, rounds + 5).map((question) => {
    const started = performance.now();
    run(question);
    return performance.now() - started;
  });
  const { user, system } = process.cpuUsage(usedBefore);
  const warm = times.slice(5).sort((a, b) => a - b);
  return {
    passages: count,
    unique: run(questions[0]).unique,
    p50: warm[Math.floor(warm.length * 0.5)],
    p95: warm[Math.floor(warm.length * 0.95)],
    /** Processor time per round in milliseconds, which the load of the machine does not change. */
    cpu: (user + system) / 1_000 / times.length,
  };
}

function passagesOf(paragraphs, count, random) {
  const texts = [];
  while (texts.length < count) {
    if (texts.length > 3 && random() < DUPLICATES) {
      texts.push(texts[Math.floor(random() * texts.length)].replaceAll(' the ', ' this '));
      continue;
    }
    const length = 1_000 + random() * 3_000;
    let text = '';
    while (text.length < length) {
      text += `${paragraphs[Math.floor(random() * paragraphs.length)].text} `;
    }
    texts.push(text.slice(0, length));
  }
  return texts.map((text, i) => ({
    text,
    server: `server-${i % 10}`,
    tool: 'search',
    position: Math.floor(i / 10),
    retrievedAt: 0,
  }));
}
