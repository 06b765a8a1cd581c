import { Injectable } from '@nestjs/common';
import type { Person } from '@app/access';
import type { UpstreamSession } from '@app/mcp-client';
import type { Server } from '@app/registry';
import { SessionPool } from '../keep/session-pool.js';
import { PersonSessions } from './person-sessions.js';

type CalledServer = Pick<Server, 'id' | 'name' | 'status' | 'credentials'>;

export interface CallerSession<S> {
  readonly session: UpstreamSession;
  /** As it was when the session was chosen. */
  readonly server: S;
  /** Of the credentials of the caller; undefined for the shared session. */
  readonly generation?: string;
}

/** Runs an attempt to get a session, within the time that the caller still has. */
export type Attempting = <T>(attempt: (withinMs: number) => Promise<T>) => Promise<T>;

/** The session that a request of a caller goes through: their own where the server is called with their credentials. */
@Injectable()
export class CallerSessions {
  constructor(
    private readonly pool: SessionPool,
    private readonly people: PersonSessions,
  ) {}

  /** The shared session, if it is open and for requests of all callers. */
  open({ id, credentials }: CalledServer): UpstreamSession | undefined {
    return credentials === 'shared' ? this.pool.get(id) : undefined;
  }

  /**
   * Opens it if needed. `latest` reads the server, again after each wait: while a session was opened, people may have
   * got their own, and must not use the shared one. Throws as `acquire` of both kinds of sessions does.
   */
  async take<S extends CalledServer>(
    latest: () => S,
    person: Person,
    attempting: Attempting,
  ): Promise<CallerSession<S>> {
    for (;;) {
      const server = latest();
      const turn = await attempting((withinMs) => this.acquire(server, person, withinMs));
      if (latest().credentials === server.credentials) return { ...turn, server };
    }
  }

  private async acquire(
    server: CalledServer,
    person: Person,
    withinMs: number,
  ): Promise<Pick<CallerSession<unknown>, 'session' | 'generation'>> {
    if (server.credentials !== 'shared') return this.people.acquire(server, person, withinMs);
    return { session: this.open(server) ?? (await this.pool.acquire(server, withinMs)) };
  }
}
