const FIRST_WAITS_S = [1, 2, 4, 8, 16];
const SLOWEST_S = 300;
const JITTER = 0.2;
/** A session that held this long was healthy: what went wrong before it does not count any more. */
const HEALTHY_MS = 60_000;

/** How many attempts a request to connect makes before it reports failure (RULINGS R14). */
export const ATTEMPTS = 3;

/**
 * Milliseconds until the next attempt after `failures` in a row (at least one): 1, 2, 4, 8, 16 s, then
 * from the health interval on doubling up to 5 minutes, for ever; ±20 % so that servers that failed
 * together do not come back together.
 */
export function nextWaitMs(failures: number, healthIntervalS: number, random: number): number {
  const slow = healthIntervalS * 2 ** Math.min(failures - FIRST_WAITS_S.length - 1, 20);
  const seconds = FIRST_WAITS_S[failures - 1] ?? Math.min(Math.max(slow, 16), SLOWEST_S);
  return jittered(seconds, random);
}

/** Servers that refuse our credentials are not asked again and again (RULINGS R17). */
export function waitAfterRefusalMs(random: number): number {
  return jittered(SLOWEST_S, random);
}

/** How long calls must not start another attempt: whoever calls a dead server must not make it a storm. */
export function wakePauseMs(failures: number): number {
  return Math.min(Math.max(failures, 1), 5) * 1_000;
}

export function failuresAfterLoss(failuresBefore: number, heldMs: number): number {
  return heldMs >= HEALTHY_MS ? 1 : failuresBefore + 1;
}

function jittered(seconds: number, random: number): number {
  return Math.round(seconds * 1_000 * (1 - JITTER + 2 * JITTER * random));
}
