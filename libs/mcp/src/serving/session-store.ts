import type { Clock } from '@app/platform';
import type { LegacySession } from './legacy-session.js';
import type { Caller, McpView } from './view.js';

export interface SessionLimits {
  readonly max: number;
  /** A session that runs nothing and holds no stream is kept this long. */
  readonly idleMs: number;
}

interface Entry {
  readonly session: LegacySession;
  usedAt: number;
  /** Which use of any session its last one was: two in one millisecond are one after the other. */
  lastUse: number;
}

/** The sessions of all legacy clients. */
export class SessionStore {
  private readonly sessions = new Map<string, Entry>();

  private uses = 0;

  constructor(
    private readonly limits: SessionLimits,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  get size(): number {
    return this.sessions.size;
  }

  add(session: LegacySession): void {
    if (this.sessions.size >= this.limits.max) this.expire();
    if (this.sessions.size >= this.limits.max) this.dropOldest();
    this.sessions.set(session.id, { session, usedAt: 0, lastUse: 0 });
    this.touch(session);
  }

  /** Undefined also for the session of somebody else or of another view: an id alone opens nothing. */
  find(id: string, view: McpView, caller: Caller): LegacySession | undefined {
    const entry = this.sessions.get(id);
    if (entry?.session.caller.name !== caller.name || entry.session.view.key !== view.key) {
      return undefined;
    }
    const { session } = entry;
    if (this.isExpired(entry)) {
      this.remove(session);
      return undefined;
    }
    this.touch(session);
    return session;
  }

  /** Starts the idle time anew. */
  touch(session: LegacySession): void {
    const entry = this.sessions.get(session.id);
    if (!entry) return;
    entry.usedAt = this.clock.now().getTime();
    entry.lastUse = ++this.uses;
  }

  remove(session: LegacySession): void {
    if (this.sessions.delete(session.id)) session.close();
  }

  /** Ends every session that has been idle for too long. */
  expire(): void {
    for (const entry of this.sessions.values()) {
      if (this.isExpired(entry)) this.remove(entry.session);
    }
  }

  closeAll(): void {
    for (const { session } of this.sessions.values()) this.remove(session);
  }

  private isExpired({ session, usedAt }: Entry): boolean {
    return usedAt <= this.clock.now().getTime() - this.limits.idleMs && session.isIdle;
  }

  /** The one that is unused for longest; one that is at work only when all are. */
  private dropOldest(): void {
    const all = [...this.sessions.values()];
    const idle = all.filter(({ session }) => session.isIdle);
    const candidates = idle.length > 0 ? idle : all;
    const [first, ...others] = candidates;
    if (!first) return;
    this.remove(others.reduce((a, b) => (b.lastUse < a.lastUse ? b : a), first).session);
  }
}
