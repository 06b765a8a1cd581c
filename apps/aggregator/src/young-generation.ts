import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, type HeapSpaceInfo, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * How much memory V8 takes for what comes and goes (docs/decisions/0704): next to nothing while the service starts,
 * much as soon as calls come, and next to nothing again once they no longer do. A flag that another V8 does not know
 * makes it print a warning, and nothing else.
 */
const QUIET_CHECK_MS = 2_000;
/** What the service's own timers need in that time is less. */
const QUIET_CPU_US = 60_000;
const MB = 1024 ** 2;
const SMALL_BYTES = 2.2 * MB;
const ROOM = { leastBytes: 16 * MB, ofOldGeneration: 1 / 6 };

/** Modules and compiled code live on: room for what does not would fill with garbage, and stay. */
export function startInLittleMemory(): void {
  growBy(1);
}

/**
 * Calls are collected best when they have much room: one collection costs the same whether 100 or 600 calls made it.
 * It costs the more the larger the old generation is, each page of which is visited, so the room grows with that.
 */
export function makeRoomForCalls(): void {
  // What V8 learns while servers connect would make what every call leaves behind old.
  setFlagsFromString('--no-allocation-site-pretenuring');
  const fit = (): void => {
    const old = space('old_space')?.space_size ?? 0;
    const room = Math.max(ROOM.leastBytes, old * ROOM.ofOldGeneration);
    growBy(Math.max(1, Math.round(room / Math.max(MB, roomBytes()))));
  };
  fit();
  new PerformanceObserver(fit).observe({ entryTypes: ['gc'] });
}

/** V8 gives the room back only when it collects in quiet times, and in quiet times it has no cause to. */
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

/** Of the half that is filled; the other is there only while calls come. */
export function roomBytes(): number {
  const room = space('new_space');
  return room ? room.space_used_size + room.space_available_size : 0;
}

function space(name: string): HeapSpaceInfo | undefined {
  return getHeapSpaceStatistics().find(({ space_name }) => space_name === name);
}

/** What V8 multiplies the room with when what survived collections fills it, up to `--max-semi-space-size`. */
function growBy(factor: number): void {
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

/** A context that is made while the flag is set has the function; nothing else in the process gets it. */
function minorCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => gc({ type: 'minor' });
}
