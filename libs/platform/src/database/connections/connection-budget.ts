/**
 * The kind of work that a query belongs to. `bulk` is a request that changes many rows: it waits for locks no longer
 * than other requests, but its statements may take longer.
 */
export type WorkKind = 'requests' | 'bulk' | 'background' | 'audit' | 'health';
export type Share = Exclude<WorkKind, 'bulk'>;

export interface WorkLimits {
  /** The share that its connections count against. */
  readonly share: Share;
  /** Maximum wait for a connection. */
  readonly waitMs: number;
  readonly lockMs: number;
  readonly statementMs: number;
}

/** How many connections each kind of work may use at the same time, and how long it waits. */
export interface ConnectionBudget {
  readonly shares: Readonly<Record<Share, number>>;
  readonly kinds: Readonly<Record<WorkKind, WorkLimits>>;
}

const BACKGROUND_SHARE = 0.4;

/** `waitMs` is for requests, `timeoutMs` for all other work (docs/decisions/0730). */
export function connectionBudget(
  connections: number,
  waitMs: number,
  timeoutMs: number,
): ConnectionBudget {
  const others = connections - 2;
  const background = Math.round(others * BACKGROUND_SHARE);
  const short = Math.min(waitMs, timeoutMs);
  const quick = { waitMs: short, lockMs: short, statementMs: short };
  const patient = { waitMs: timeoutMs, lockMs: timeoutMs, statementMs: timeoutMs };
  return {
    shares: { requests: others - background, background, audit: 1, health: 1 },
    kinds: {
      requests: { share: 'requests', ...quick },
      bulk: { share: 'requests', ...quick, statementMs: timeoutMs },
      background: { share: 'background', ...patient },
      audit: { share: 'audit', ...patient },
      health: { share: 'health', ...quick },
    },
  };
}

export function connectionsOf({ shares }: ConnectionBudget): number {
  return Object.values(shares).reduce((sum, share) => sum + share, 0);
}
