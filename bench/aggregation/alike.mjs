import { digestOf } from '../../dist/libs/aggregation/src/rank/digest.js';
import { seeded } from './fleet.mjs';

const PASSAGES = 100;
const CHARS = 1_400;
const WORDS = 800;
const ROUNDS = 20;

/** Processor time to rank 100 passages of 1.4 kB in milliseconds, by how much they are alike. */
export function measureAlike(embed) {
  const random = seeded(PASSAGES);
  const syllable = () =>
    'bcdfghklmnprstvz'[Math.floor(random() * 16)] + 'aeiou'[Math.floor(random() * 5)];
  const word = () => Array.from({ length: 1 + Math.floor(random() * 3) }, syllable).join('');
  const words = Array.from({ length: WORDS }, word);
  const pick = () => words[Math.floor(random() ** 2 * WORDS)];
  const text = () =>
    Array.from({ length: CHARS / 5 }, pick)
      .join(' ')
      .slice(0, CHARS);
  const base = text();
  const changed = (share) => () =>
    base.replace(/\w+/g, (same) => (random() < share ? pick() : same));
  const kinds = {
    different: text,
    'equal but for a number': (i) => `${base} ${i}`,
    '5 % other words': changed(0.05),
    '15 % other words': changed(0.15),
    '25 % other words': changed(0.25),
  };
  return Object.entries(kinds).map(([kind, make]) => ({
    kind,
    ...measure(
      Array.from({ length: PASSAGES }, (_, i) => make(i)),
      `${words[1]} of ${words[7]}`,
      embed,
    ),
  }));
}

function measure(texts, query, embed) {
  const passages = texts.map((text, i) => ({
    text,
    server: `server-${i % 10}`,
    tool: 'search',
    position: Math.floor(i / 10),
    retrievedAt: 0,
  }));
  const limits = { maxResults: 30, maxTokens: 6_000 };
  let unique = 0;
  const times = Array.from({ length: ROUNDS + 5 }, () => {
    const before = process.cpuUsage();
    ({ unique } = digestOf({ query, passages, embed, weights: new Map() }, limits));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  });
  const warm = times.slice(5).sort((a, b) => a - b);
  return { unique, p50: warm[ROUNDS / 2], p95: warm[Math.floor(ROUNDS * 0.95)] };
}
