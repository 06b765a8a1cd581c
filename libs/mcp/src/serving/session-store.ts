import type { Clock } from '@app/platform';
import type { LegacySession } from './legacy-session.js';
import type { Caller, McpView } from './view.js';

export interface SessionLimits {
  readonly max: number;
  /** A session that runs nothing and holds no stream is kept this long. */
  readonly idleMs: number;
}

/** The sessions of all legacy clients, the longest unused first. */
export class SessionStore {
  private readonly sessions = new Map<string, { session: LegacySession; usedAt: number }>();

  constructor(
    private readonly limits: SessionLimits,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  get size(): number {
    return this.sessions.size;
  }

  add(session: LegacySession): void {
    this.expire();
    if (this.sessions.size >= this.limits.max) this.dropOldest();
    this.sessions.set(session.id, { session, usedAt: this.clock.now().getTime() });
  }

  /** Undefined also for the session of somebody else or of another view: an id alone opens nothing. */
  find(id: string, view: McpView, caller: Caller): LegacySession | undefined {
    const entry = this.sessions.get(id);
    if (entry?.session.caller.name !== caller.name || entry.session.view.key !== view.key) {
      return undefined;
    }
    this.touch(entry.session);
    return entry.session;
  }

  /** Starts the idle time anew. */
  touch(session: LegacySession): void {
    const entry = this.sessions.get(session.id);
    if (!entry) return;
    entry.usedAt = this.clock.now().getTime();
    this.sessions.delete(session.id);
    this.sessions.set(session.id, entry);
  }

  remove(session: LegacySession): void {
    if (this.sessions.delete(session.id)) session.close();
  }

  /** Ends every session that has been idle for too long. */
  expire(): void {
    const limit = this.clock.now().getTime() - this.limits.idleMs;
    for (const { session, usedAt } of this.sessions.values()) {
      if (usedAt > limit) return;
      if (session.isIdle) this.remove(session);
    }
  }

  closeAll(): void {
    for (const { session } of this.sessions.values()) this.remove(session);
  }

  private dropOldest(): void {
    let oldest: LegacySession | undefined;
    for (const { session } of this.sessions.values()) {
      oldest ??= session;
      if (session.isIdle) return this.remove(session);
    }
    if (oldest) this.remove(oldest);
  }
}
