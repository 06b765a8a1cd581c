/** ok: nothing to do. warn: it works, or will, but look at it. fail: the service does not work so. */
export type Outcome = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** What was checked: `node`, `data folder`, `server github`. */
  readonly check: string;
  readonly outcome: Outcome;
  readonly detail: string;
  /** What to do; only with warn and fail. */
  readonly remedy?: string;
}

export function ok(check: string, detail: string): Finding {
  return { check, outcome: 'ok', detail };
}

export function warn(check: string, detail: string, remedy: string): Finding {
  return { check, outcome: 'warn', detail, remedy };
}

export function fail(check: string, detail: string, remedy: string): Finding {
  return { check, outcome: 'fail', detail, remedy };
}
