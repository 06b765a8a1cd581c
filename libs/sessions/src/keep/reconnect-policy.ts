const FIRST_WAITS_S = [1, 2, 4, 8, 16];
const SLOWEST_S = 300;
const JITTER = 0.2;
/** A session that lived this long counts as healthy and resets the failure count. */
const HEALTHY_MS = 60_000;

/** How many attempts a request to connect makes before it reports failure (contract R14). */
export const ATTEMPTS = 3;

/**
 * Backoff in milliseconds after `failures` consecutive failures (at least one): 1, 2, 4, 8, 16 s, then the health
 * interval, doubling up to 5 minutes, without end. ±20 % jitter keeps servers that failed together from
 * reconnecting together.
 */
export function nextWaitMs(failures: number, healthIntervalS: number, random: number): number {
  const slow = healthIntervalS * 2 ** Math.min(failures - FIRST_WAITS_S.length - 1, 20);
  const seconds = FIRST_WAITS_S[failures - 1] ?? Math.min(Math.max(slow, 16), SLOWEST_S);
  return jittered(seconds, random);
}

/** Servers that refuse our credentials are retried at the slowest interval only (contract R17). */
export function waitAfterRefusalMs(random: number): number {
  return jittered(SLOWEST_S, random);
}

export function failuresAfterLoss(failuresBefore: number, heldMs: number): number {
  return heldMs >= HEALTHY_MS ? 1 : failuresBefore + 1;
}

function jittered(seconds: number, random: number): number {
  return Math.round(seconds * 1_000 * (1 - JITTER + 2 * JITTER * random));
}
