import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const load = fileURLToPath(new URL('load.mjs', import.meta.url));

/** One run of the load generator, in its own process. */
export function measure(target, plan) {
  const options = {
    url: target.url,
    headers: target.headers,
    tool: target.tool,
    mode: target.mode,
    pids: target.pid ? [target.pid] : [],
    ...plan,
  };
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [load, JSON.stringify(options)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let out = '';
    child.stdout.on('data', (text) => (out += text));
    child.once('exit', (code) => {
      if (code !== 0) return reject(new Error(`the load generator failed on ${target.url}`));
      const result = JSON.parse(out);
      resolve({ ...result, cpu: result.cpu[0] });
    });
  });
}

/** Every target once per round, in random order, so that a disturbance affects all targets alike. */
export async function interleaved(targets, plan, rounds) {
  const results = Object.fromEntries(Object.keys(targets).map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of shuffled(Object.keys(targets))) {
      results[name].push(await measure(targets[name], plan));
    }
  }
  return results;
}

export function median(values) {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Median of the ratios of each round. */
export const ratio = (over, under, field) =>
  median(over.map((result, round) => result[field] / under[round][field]));

function shuffled(items) {
  return items
    .map((item) => [Math.random(), item])
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}
