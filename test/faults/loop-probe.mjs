// Loaded into the service by `--import`: measures how long the event loop was blocked. SIGUSR2 writes the longest block
// since the last signal, in ms, to FAULTS_LOOP_FILE. Counts processor time of the main thread only, so a busy machine
// does not matter.
import { readFileSync, writeFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

const STEP_MS = 5;
const file = process.env.FAULTS_LOOP_FILE;

if (isMainThread && file && process.argv[1]?.endsWith('main.js')) watch();

function watch() {
  const schedule = `/proc/self/task/${process.pid}/schedstat`;
  const computedMs = () => Number(readFileSync(schedule, 'latin1').split(' ')[0]) / 1e6;
  let longest = 0;
  let wall = performance.now();
  let computed = computedMs();
  setInterval(() => {
    const now = performance.now();
    const computedNow = computedMs();
    longest = Math.max(longest, Math.min(now - wall - STEP_MS, computedNow - computed));
    wall = now;
    computed = computedNow;
  }, STEP_MS).unref();
  process.on('SIGUSR2', () => {
    writeFileSync(file, `${longest.toFixed(1)}\n`);
    longest = 0;
  });
}
