import { Injectable } from '@nestjs/common';
import { Clock, CoalescedRuns, DatabaseUnavailable, Env } from '@app/platform';
import type { FastifyRequest } from 'fastify';
import { tokenHash } from '../authenticate/admin-token.js';
import { LruMap } from '../authenticate/lru-map.js';
import type { Principal } from '../authenticate/principal.js';
import { type Holder, Tokens } from '../authenticate/tokens.js';
import { type BrowserSession, secureHostOf, sessionIdIn } from './browser-session.js';
import { BrowserSessionStore } from './browser-session.store.js';
import { isFromOwnPage } from './own-page.js';

/** How long another replica may still accept a session that was ended. */
const REMEMBERED_MS = 1_000;
const MAX_REMEMBERED = 10_000;

interface Remembered {
  /** Undefined for an id without a session. */
  readonly session: BrowserSession | undefined;
  /** Monotonic. */
  readonly readAt: number;
}

/** The session of a request, with what its token may do. */
export interface LiveSession extends BrowserSession {
  readonly principal: Principal;
  readonly account: string;
  /** How people read the name of the principal. */
  readonly label?: string | undefined;
}

/** Browser sessions by their cookies. The rows are the truth; what was read is used for a second. */
@Injectable()
export class BrowserSessions {
  private readonly remembered = new LruMap<Remembered>(MAX_REMEMBERED);
  /** Ids to read with the next statement: strangers who invent cookies cause one statement at a time. */
  private readonly asked = new Set<string>();
  private readonly reads = new CoalescedRuns();
  private readonly secureHost: string | undefined;
  /** Counts sessions that ended here, to notice rows that were read before. */
  private ended = 0;

  constructor(
    private readonly env: Env,
    private readonly store: BrowserSessionStore,
    private readonly tokens: Tokens,
    private readonly clock: Clock,
  ) {
    this.secureHost = secureHostOf(env);
  }

  /** The session of a request that may come from our own page; a cookie with any other request is ignored. */
  of(
    request: Pick<FastifyRequest, 'method' | 'host' | 'headers'>,
  ): LiveSession | undefined | Promise<LiveSession | undefined> {
    const { cookie } = request.headers;
    if (cookie === undefined || !this.env.MCP_AGGREGATOR_CONSOLE) return undefined;
    const id = sessionIdIn(cookie, request.host, this.secureHost);
    if (id === undefined || !isFromOwnPage(request)) return undefined;
    return this.withId(id);
  }

  /** After its row was deleted. */
  forget(idHash: string): void {
    this.ended += 1;
    this.remembered.delete(idHash);
  }

  private withId(id: string): LiveSession | undefined | Promise<LiveSession | undefined> {
    const idHash = tokenHash(id);
    const known = this.remembered.get(idHash);
    if (known && this.clock.monotonic() - known.readAt < REMEMBERED_MS) {
      return known.session && this.alive(known.session);
    }
    return this.read(idHash);
  }

  private async read(idHash: string): Promise<LiveSession | undefined> {
    this.asked.add(idHash);
    try {
      await this.reads.run('rows', () => this.readAsked());
    } catch (error) {
      // As tokens, sessions stay as they were while the database is gone: people look at the console then.
      const known = this.remembered.get(idHash);
      if (!(error instanceof DatabaseUnavailable) || !known?.session) throw error;
      this.remember(idHash, known.session);
    }
    const session = this.remembered.get(idHash)?.session;
    if (!session) return undefined;
    const alive = this.alive(session);
    if (alive) return alive;
    // The token may have been issued at another replica a moment ago.
    await this.tokens.reload();
    return this.alive(session);
  }

  private async readAsked(): Promise<void> {
    const idHashes = [...this.asked];
    this.asked.clear();
    for (;;) {
      const { ended } = this;
      const found = await this.store.find(idHashes);
      if (ended !== this.ended) continue;
      const byHash = new Map(found.map((session) => [session.idHash, session]));
      for (const idHash of idHashes) this.remember(idHash, byHash.get(idHash));
      await this.noteUse(found.filter(({ isIdle }) => isIdle).map(({ idHash }) => idHash));
      return;
    }
  }

  private async noteUse(idHashes: readonly string[]): Promise<void> {
    if (idHashes.length === 0) return;
    try {
      await this.store.noteUse(idHashes);
    } catch (error) {
      // A database that is read-only still answers requests that only read.
      if (!(error instanceof DatabaseUnavailable)) throw error;
    }
  }

  private remember(idHash: string, session: BrowserSession | undefined): void {
    this.remembered.set(idHash, { session, readAt: this.clock.monotonic() });
  }

  /** Undefined when it has expired, or its token is not accepted any more. */
  private alive(session: BrowserSession): LiveSession | undefined {
    if (session.expiresAt <= this.clock.now()) return undefined;
    const holder = this.tokens.holderOf(session.tokenHash);
    return holder && withHolder(session, holder);
  }
}

export function withHolder(
  session: BrowserSession,
  { principal, account, until, label }: Holder,
): LiveSession {
  const expiresAt = new Date(Math.min(session.expiresAt.getTime(), until));
  return { ...session, expiresAt, principal, account, label };
}
