import { type BeforeApplicationShutdown, Injectable, Logger } from '@nestjs/common';
import { Clock } from '@app/platform';
import { AuditStore } from './audit.store.js';
import { type Actor, ANONYMOUS } from './principal.js';

export interface Refusal {
  readonly actor: Actor;
  readonly method: string;
  /** The pattern of the route, never the path as sent, which could hold a secret. */
  readonly route: string;
  readonly status: number;
}

const WINDOW_MS = 60_000;
/** Different refusals a window; the others share one entry, whatever a flood looks like. */
const MAX_ENTRIES = 200;
const OTHERS: Refusal = {
  actor: { name: ANONYMOUS, ip: null },
  method: '*',
  route: '(many others)',
  status: 0,
};

/**
 * Refused access in the audit log. The first of its kind is written at once, what repeats it within
 * a minute is counted and written as one, so that a flood cannot fill the database.
 */
@Injectable()
export class RefusalLog implements BeforeApplicationShutdown {
  private readonly logger = new Logger('access');
  private readonly repeats = new Map<string, { readonly refusal: Refusal; count: number }>();
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly audit: AuditStore,
    private readonly clock: Clock,
  ) {}

  note(refusal: Refusal): void {
    const { actor, method, route, status } = refusal;
    const key = JSON.stringify([actor.ip, actor.name, method, route, status]);
    const seen = this.repeats.get(key);
    if (seen) {
      seen.count++;
      return;
    }
    if (refusal !== OTHERS && this.repeats.size >= MAX_ENTRIES) return this.note(OTHERS);
    if (this.repeats.size === 0) void this.clock.sleep(WINDOW_MS).then(() => this.flush());
    this.repeats.set(key, { refusal, count: 0 });
    this.write(refusal, 1);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.flush();
  }

  private async flush(): Promise<void> {
    for (const { refusal, count } of this.repeats.values()) {
      if (count > 0) this.write(refusal, count);
    }
    this.repeats.clear();
    await this.writing;
  }

  /** One after the other: a flood takes at most one connection. */
  private write({ actor, ...details }: Refusal, count: number): void {
    this.writing = this.writing
      .then(() =>
        this.audit.record({
          event: 'access.refused',
          outcome: 'refused',
          actor,
          details: { ...details, count },
        }),
      )
      .catch((error: unknown) => this.logger.error({ err: error }, 'a refusal was not recorded'));
  }
}
