import type { ServerStatus, StatusSignal } from '@app/registry';

/** The result of one check. */
export type ProbeOutcome =
  | { readonly kind: 'healthy'; readonly responseTimeMs: number }
  | { readonly kind: 'failed'; readonly error: string }
  /** The check itself is misconfigured (HTTP 4xx), so it does not judge the server. */
  | { readonly kind: 'misconfigured'; readonly warning: string };

export interface HealthVerdict {
  readonly consecutiveFailures: number;
  /** The status change to request, if there is one. */
  readonly signal?: StatusSignal;
}

const DEGRADED_AFTER = 2;
const FAILED_AFTER = 3;

/** The status signal for this number of consecutive failures of a serving server. */
export function signalAfter(consecutiveFailures: number): 'degraded' | 'failed' | undefined {
  if (consecutiveFailures >= FAILED_AFTER) return 'failed';
  return consecutiveFailures >= DEGRADED_AFTER ? 'degraded' : undefined;
}

/**
 * One failure is a warning, the second degrades, the third fails; one success recovers (contract BR-006, R19 and
 * R20).
 */
export function judge(
  before: { readonly status: ServerStatus; readonly consecutiveFailures: number },
  outcome: ProbeOutcome,
): HealthVerdict {
  switch (outcome.kind) {
    case 'healthy':
      return {
        consecutiveFailures: 0,
        ...(before.status === 'DEGRADED' && { signal: 'recovered' }),
      };
    case 'failed': {
      const consecutiveFailures = before.consecutiveFailures + 1;
      const signal = signalAfter(consecutiveFailures);
      const isSaid = signal === 'degraded' && before.status !== 'CONNECTED';
      return { consecutiveFailures, ...(signal && !isSaid && { signal }) };
    }
    case 'misconfigured':
      return { consecutiveFailures: before.consecutiveFailures };
    default:
      return outcome satisfies never;
  }
}
