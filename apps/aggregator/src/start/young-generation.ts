import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, type HeapSpaceInfo, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * Size of V8's young generation (docs/decisions/0704): small while the service starts, large while calls are served,
 * small again when idle. An unknown flag makes another V8 version print a warning, without other effect.
 */
const QUIET_CHECK_MS = 2_000;
/** Allocation below this in one interval comes from the service's own timers. */
const QUIET_CPU_US = 60_000;
const MB = 1024 ** 2;
const SMALL_BYTES = 2.2 * MB;
const ROOM = { leastBytes: 16 * MB, ofOldGeneration: 1 / 6 };
/** The old generation of a service that loads tens of thousands of tools. */
const LARGE_START_BYTES = 64 * MB;

/** Modules and compiled code are long-lived: a larger young generation would only fill with garbage and stay large. */
export function startInLittleMemory(): void {
  growBy(1);
}

/** What tens of thousands of tools are read from is garbage: with little memory a third of the start collects it. */
export function makeRoomForLargeStart(): void {
  new PerformanceObserver(() => {
    if (oldBytes() > LARGE_START_BYTES) fit();
  }).observe({ entryTypes: ['gc'] });
}

/**
 * A large young generation makes collections cheap: one costs the same whether 100 or 600 calls made the garbage. Its
 * cost grows with the old generation, every page of which is visited, so the size grows with that.
 */
export function makeRoomForCalls(): void {
  // V8's allocation-site feedback from connecting servers would pretenure the garbage of every call.
  setFlagsFromString('--no-allocation-site-pretenuring');
  fit();
  new PerformanceObserver(fit).observe({ entryTypes: ['gc'] });
}

/** V8 shrinks the young generation only during a collection, and an idle process has none. */
export function giveRoomBackWhenQuiet(): void {
  const collect = minorCollection();
  let before = process.cpuUsage();
  const check = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    if (user + system < QUIET_CPU_US && roomBytes() > SMALL_BYTES) collect();
  };
  setInterval(check, QUIET_CHECK_MS).unref();
}

/** Size of the semi-space in use; the other one is allocated only while calls are served. */
export function roomBytes(): number {
  const room = space('new_space');
  return room ? room.space_used_size + room.space_available_size : 0;
}

function fit(): void {
  const room = Math.max(ROOM.leastBytes, oldBytes() * ROOM.ofOldGeneration);
  growBy(Math.max(1, Math.round(room / Math.max(MB, roomBytes()))));
}

function oldBytes(): number {
  return space('old_space')?.space_size ?? 0;
}

function space(name: string): HeapSpaceInfo | undefined {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === name);
}

/** Factor by which V8 grows the semi-space when survivors fill it, up to `--max-semi-space-size`. */
function growBy(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/** Only a context created while the flag is set has the `gc` function. */
function minorCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => gc({ type: 'minor' });
}
