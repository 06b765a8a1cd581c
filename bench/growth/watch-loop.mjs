// Preloaded into the service (--import): how long its event loop was blocked, written to LOOP_WATCH_FILE twice a second.
// Beside the time of the clock the processor time of the main thread counts, which other processes do not lengthen.
import { closeSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';

const file = process.env.LOOP_WATCH_FILE;
const TICK_MS = 5;
const LISTED_MS = 20;
const MAX_LISTED = 2_000;

if (file) watch();

function watch() {
  const stat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(64);
  const cpuMs = () =>
    Number(bytes.latin1Slice(0, readSync(stat, bytes, 0, 64, 0)).split(' ')[0]) / 1e6;
  const start = performance.timeOrigin;
  const blocks = [];
  let clock = performance.now();
  let cpu = cpuMs();
  setInterval(() => {
    const [now, used] = [performance.now(), cpuMs()];
    const ms = now - clock - TICK_MS;
    if (ms > LISTED_MS && blocks.length < MAX_LISTED)
      blocks.push({ at: start + clock, ms, cpuMs: used - cpu });
    [clock, cpu] = [now, used];
  }, TICK_MS).unref();
  let written = -1;
  setInterval(() => {
    if (blocks.length === written) return;
    written = blocks.length;
    writeFileSync(`${file}.new`, JSON.stringify(blocks));
    renameSync(`${file}.new`, file);
  }, 500).unref();
  process.once('exit', () => closeSync(stat));
}
