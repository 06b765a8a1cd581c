import type { ServerStatus, StatusSignal } from '@app/registry';

/** What one check found out. */
export type ProbeOutcome =
  | { readonly kind: 'healthy'; readonly responseTimeMs: number }
  | { readonly kind: 'failed'; readonly error: string }
  /** The check itself is set up wrongly (HTTP 4xx): says nothing about the server. */
  | { readonly kind: 'misconfigured'; readonly warning: string };

export interface Verdict {
  readonly consecutiveFailures: number;
  /** What the row is told, if anything changes. */
  readonly signal?: StatusSignal;
}

const DEGRADED_AFTER = 2;
const FAILED_AFTER = 3;

/** One failure is a warning, two degrade, three fail; one success heals (BR-006, RULINGS R19 and R20). */
export function judge(
  before: { readonly status: ServerStatus; readonly consecutiveFailures: number },
  outcome: ProbeOutcome,
): Verdict {
  switch (outcome.kind) {
    case 'healthy':
      return {
        consecutiveFailures: 0,
        ...(before.status === 'DEGRADED' && { signal: 'recovered' }),
      };
    case 'failed': {
      const consecutiveFailures = before.consecutiveFailures + 1;
      if (consecutiveFailures >= FAILED_AFTER) return { consecutiveFailures, signal: 'failed' };
      if (consecutiveFailures < DEGRADED_AFTER) return { consecutiveFailures };
      return {
        consecutiveFailures,
        ...(before.status === 'CONNECTED' && { signal: 'degraded' }),
      };
    }
    case 'misconfigured':
      return { consecutiveFailures: before.consecutiveFailures };
    default:
      return outcome satisfies never;
  }
}
