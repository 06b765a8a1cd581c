/** A run that another process or a garbage collection held up is repeated: code that blocks does so every time. */
const TRIES = 4;
/** No run is repeated when nothing blocked longer than this. */
const FINE_MS = 100;
/** What the reference work takes on the machine on which the tests chose their limits. */
const REFERENCE_MS = 5;
const REFERENCE_RUNS = 8;
const REFERENCE_TEXT = JSON.stringify(
  Array.from({ length: 20_000 }, (_, i) => ({ i, name: `name ${i}` })),
);
let slowness: number | undefined;

/** How many times slower this machine is, at least 1: all results are as if of a machine as fast as that one. */
function machineSlowness(): number {
  const reference = (): number => {
    const before = process.cpuUsage();
    JSON.stringify(JSON.parse(REFERENCE_TEXT));
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1_000;
  };
  slowness ??= Math.max(
    1,
    Math.min(...Array.from({ length: REFERENCE_RUNS }, reference)) / REFERENCE_MS,
  );
  return slowness;
}

/**
 * Runs the work and returns its result and the longest block of the event loop in milliseconds, the least of several
 * runs. So `work` has to do the same in each. Counts processor time of this process only, so a busy machine matters
 * little.
 */
export async function longestBlock<T>(
  work: () => Promise<T>,
): Promise<{ result: T; blockedMs: number }> {
  let best = await observe(work);
  for (let run = 1; run < TRIES && best.blockedMs > FINE_MS; run++) {
    const next = await observe(work);
    if (next.blockedMs < best.blockedMs) best = next;
  }
  return best.blockedMs > FINE_MS
    ? { ...best, blockedMs: best.blockedMs / machineSlowness() }
    : best;
}

/** Processor time of the work in milliseconds, the least of several runs. */
export function processorMs(work: () => void): number {
  let least = Infinity;
  for (let run = 0; run < TRIES && least > FINE_MS; run++) {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    least = Math.min(least, (user + system) / 1_000);
  }
  return least > FINE_MS ? least / machineSlowness() : least;
}

async function observe<T>(work: () => Promise<T>): Promise<{ result: T; blockedMs: number }> {
  let blockedMs = 0;
  let isDone = false;
  let wall = performance.now();
  let cpu = process.cpuUsage();
  const tick = (): void => {
    const { user, system } = process.cpuUsage(cpu);
    blockedMs = Math.max(blockedMs, Math.min(performance.now() - wall, (user + system) / 1_000));
    cpu = process.cpuUsage();
    wall = performance.now();
    if (!isDone) setImmediate(tick);
  };
  setImmediate(tick);
  try {
    const result = await work();
    // A block at the end of the work is recorded by the next tick.
    await new Promise((resolve) => {
      setImmediate(() => setImmediate(resolve));
    });
    return { result, blockedMs };
  } finally {
    isDone = true;
  }
}
