import { type ClientLimits, type Clock, Shares } from '@app/platform';
import { capabilityNames, type ConnectedClient, NAMELESS } from '../clients/connected-client.js';
import type { EndReason } from '../endpoint/interruption.js';
import type { LegacySession } from './legacy-session.js';
import type { Caller, McpSurface } from '../surface.js';

export interface SessionLimits {
  readonly max: number;
  /** Maximum idle time of a session without running calls and streams. */
  readonly idleMs: number;
}

interface Entry {
  readonly session: LegacySession;
  /** Who used it last, perhaps with a newer token. */
  caller: Caller;
  /** Monotonic. */
  readonly openedAt: number;
  usedAt: number;
  /** Sequence number of the last use, which also orders uses in the same millisecond. */
  lastUse: number;
}

/** The sessions of all legacy clients. */
export class SessionStore {
  private readonly sessions = new Map<string, Entry>();
  private readonly owners = new Shares();
  private uses = 0;

  constructor(
    private readonly limits: SessionLimits,
    private readonly clock: Pick<Clock, 'monotonic'>,
    private readonly clientLimits?: ClientLimits,
    private readonly onChange?: (change: 'opened' | 'ended', client: ConnectedClient) => void,
    private readonly dateAt: (monotonic: number) => Date = (at) => new Date(at),
  ) {}

  get size(): number {
    return this.sessions.size;
  }

  get runningCalls(): number {
    let count = 0;
    for (const { session } of this.sessions.values()) count += session.runningCalls;
    return count;
  }

  get standingStreams(): number {
    let count = 0;
    for (const { session } of this.sessions.values()) count += session.standingStreams;
    return count;
  }

  add(session: LegacySession): void {
    if (this.sessions.size >= this.limits.max) this.expire();
    if (this.sessions.size >= this.limits.max) this.makeRoomFor(session.caller.name);
    this.owners.add(session.caller.name);
    const { caller } = session;
    const entry = { session, caller, openedAt: this.clock.monotonic(), usedAt: 0, lastUse: 0 };
    this.sessions.set(session.id, entry);
    this.touch(session);
    this.onChange?.('opened', this.shown(entry));
  }

  /** Undefined also for a session of another caller, OAuth client or view: an id alone grants no access. */
  find(id: string, view: McpSurface, caller: Caller): LegacySession | undefined {
    const entry = this.sessions.get(id);
    if (!entry || !isSameCaller(entry.session.caller, caller)) return undefined;
    if (entry.session.view.key !== view.key) return undefined;
    const { session } = entry;
    entry.caller = caller;
    if (this.isExpired(entry)) {
      this.remove(session);
      return undefined;
    }
    this.touch(session);
    return session;
  }

  /** Restarts the idle time. */
  touch(session: LegacySession): void {
    const entry = this.sessions.get(session.id);
    if (!entry) return;
    entry.usedAt = this.clock.monotonic();
    entry.lastUse = ++this.uses;
  }

  remove(session: LegacySession, reason: EndReason = 'The session has ended'): void {
    const entry = this.sessions.get(session.id);
    if (!entry || !this.sessions.delete(session.id)) return;
    this.onChange?.('ended', this.shown(entry));
    this.owners.remove(session.caller.name);
    session.close(reason);
  }

  list(): readonly ConnectedClient[] {
    return [...this.sessions.values()].map((entry) => this.shown(entry));
  }

  /** By the id that operators see; false if there is none. */
  removePublic(id: string, reason: EndReason): boolean {
    for (const { session } of this.sessions.values()) {
      if (session.publicId !== id) continue;
      this.remove(session, reason);
      return true;
    }
    return false;
  }

  removeOf(subject: string, reason: EndReason): void {
    for (const { session } of [...this.sessions.values()]) {
      if (session.caller.subject === subject) this.remove(session, reason);
    }
  }

  removeUnadmitted(reason: EndReason): void {
    for (const { session, caller } of [...this.sessions.values()]) {
      if (session.caller.isAdmitted?.() === false) this.remove(session, reason);
      else if (caller.isExpired?.() === true) session.endStreams();
    }
  }

  /** Ends every session that has been idle for too long. */
  expire(): void {
    for (const entry of this.sessions.values()) {
      if (this.isExpired(entry)) this.remove(entry.session);
    }
  }

  interruptCalls(reason: EndReason): void {
    for (const { session } of this.sessions.values()) session.interruptCalls(reason);
  }

  closeAll(reason: EndReason): void {
    for (const { session } of this.sessions.values()) this.remove(session, reason);
  }

  private shown({ session, openedAt, usedAt }: Entry): ConnectedClient {
    const { caller, capabilities, info = NAMELESS, version = null } = session;
    return {
      id: session.publicId,
      era: 'legacy',
      caller: caller.name,
      info,
      version,
      endpoint: caller.endpoint ?? '/mcp',
      view: caller.view ?? null,
      capabilities: capabilityNames(capabilities),
      subscriptions: session.subscribed,
      streams: session.standingStreams,
      openedAt: this.dateAt(openedAt),
      lastSeenAt: this.dateAt(usedAt),
      calls: session.calls,
      running: session.runningCalls,
    };
  }

  private isExpired({ session, usedAt }: Entry): boolean {
    return usedAt <= this.clock.monotonic() - this.limits.idleMs && session.isIdle;
  }

  /**
   * Evicts the least recently used idle session; a session with running calls only when none is idle. It is one of
   * the same principal, unless another principal exceeds its share.
   */
  private makeRoomFor(principal: string): void {
    const owner = this.owners.whoGivesWay(principal);
    let oldest: Entry | undefined;
    for (const entry of this.sessions.values()) {
      if (entry.session.caller.name !== owner) continue;
      if (!oldest || givesWayBefore(entry, oldest)) oldest = entry;
    }
    if (!oldest) return;
    this.clientLimits?.note('sessions', oldest.session.caller.name);
    this.remove(oldest.session);
  }
}

function isSameCaller(one: Caller, other: Caller): boolean {
  return one.subject === other.subject && one.client === other.client;
}

function givesWayBefore(one: Entry, other: Entry): boolean {
  const [isIdle, otherIsIdle] = [one.session.isIdle, other.session.isIdle];
  return isIdle === otherIsIdle ? one.lastUse < other.lastUse : isIdle;
}
