import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/*
 * How much memory V8 takes for what comes and goes (docs/decisions/0704): next to nothing while the service starts, all
 * that it may as soon as calls come, and next to nothing again once they no longer do. A flag that another V8 does not
 * know makes it print a warning, and nothing else.
 */
const QUIET_CHECK_MS = 2_000;
/** What the service's own timers need in that time is less. */
const QUIET_CPU_US = 60_000;
const SMALL_BYTES = 4.5 * 1024 ** 2;

/** Modules and compiled code live on: room for what does not would fill with garbage, and stay. */
export function startInLittleMemory(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

/** Calls are collected best when they have most room: one collection costs the same whether 100 or 600 calls made it. */
export function makeRoomForCalls(): void {
  // What V8 learns while servers connect would make what every call leaves behind old.
  setFlagsFromString('--no-allocation-site-pretenuring');
  setFlagsFromString('--semi-space-growth-factor=32');
}

/** V8 gives the room back only when it collects in quiet times, and in quiet times it has no cause to. */
export function giveRoomBackWhenQuiet(): void {
  const collect = minorCollection();
  let before = process.cpuUsage();
  const check = (): void => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    if (user + system < QUIET_CPU_US && youngGenerationBytes() > SMALL_BYTES) collect();
  };
  setInterval(check, QUIET_CHECK_MS).unref();
}

export function youngGenerationBytes(): number {
  const space = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  return space?.space_size ?? 0;
}

/** A context that is made while the flag is set has the function; nothing else in the process gets it. */
function minorCollection(): () => void {
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  setFlagsFromString('--no-expose-gc');
  return () => gc({ type: 'minor' });
}
