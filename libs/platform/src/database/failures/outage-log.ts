import type { Logger } from '@nestjs/common';
import type { DatabaseUnavailable } from './database.errors.js';

const REPEAT_AFTER_MS = 10_000;

interface Noted {
  readonly at: number;
  since: number;
}

/** Logs which handlers fail because of the database: each at once, then every ten seconds with a count. */
export class OutageLog {
  private readonly noted = new Map<string, Noted>();

  constructor(
    private readonly logger: Pick<Logger, 'warn'>,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** `handler` comes from a small fixed set, such as route patterns; never a raw path. */
  note(handler: string, error: DatabaseUnavailable): void {
    const key = `${handler} ${error.trouble}`;
    const before = this.noted.get(key);
    if (before && this.now() - before.at < REPEAT_AFTER_MS) {
      before.since++;
      return;
    }
    this.noted.set(key, { at: this.now(), since: 0 });
    const repeated = before?.since ?? 0;
    this.logger.warn(
      { handler, reason: error.trouble, ...(repeated > 0 && { repeated }), err: causeOf(error) },
      'database.unavailable',
    );
  }
}

/** The driver's message, without the statement and its parameters, which may hold user input. */
function causeOf({ cause }: DatabaseUnavailable): object | undefined {
  if (!(cause instanceof Error)) return undefined;
  const code = 'code' in cause ? { code: cause.code } : {};
  return { message: cause.message, ...code };
}
