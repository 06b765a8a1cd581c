import { Injectable } from '@nestjs/common';
import type { Person } from '@app/access';
import { Catalogue } from '@app/catalogue';
import type { RootsClient, RootsOffer } from '@app/mcp-server';
import type { RootsProvider, UpstreamSession } from '@app/mcp-client';
import { PersonSessions, SessionPool } from '@app/sessions';

const CHANGED = 'notifications/roots/list_changed';

type OfferedRoots = Awaited<ReturnType<RootsProvider>>;
const NONE: OfferedRoots = { result: { roots: [] } };

interface Offer {
  readonly client: RootsClient;
  /** Undefined for clients of an endpoint with all servers. */
  readonly serverIds: readonly string[] | undefined;
}

/**
 * Roots that clients offer to servers. All clients share the session of a server, and a server may request roots
 * at any time and keep them. So roots are given only while exactly one client offers some and no other user has
 * used the session; the session withdraws them before it serves another user. In a session of one person only the
 * clients of that person count.
 */
@Injectable()
export class ClientRoots {
  private readonly offers = new Set<Offer>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly people: PersonSessions,
  ) {}

  offer(client: RootsClient, serverIds?: readonly string[]): RootsOffer {
    const offer: Offer = { client, serverIds };
    this.change(offer, () => this.offers.add(offer));
    return {
      changed: () => {
        for (const id of this.concerned(serverIds)) {
          if (this.clientFor(id) === client) this.tell(this.sessions.get(id));
        }
        const { subject } = client.caller;
        for (const [id, session] of this.people.of(subject)) {
          if (this.clientOf(id, { subject }) === client) this.tell(session);
        }
      },
      release: () => this.change(offer, () => this.offers.delete(offer)),
    };
  }

  /** The answer to a `roots/list` request outside of any call; `person`: in a session of that person alone. */
  async of(
    serverId: string,
    user: string | null | undefined,
    person?: Person,
  ): Promise<OfferedRoots> {
    const client = person ? this.clientOf(serverId, person) : this.clientFor(serverId, user);
    if (!client) return NONE;
    try {
      return { result: await client.roots(), principal: client.caller.subject };
    } catch {
      return NONE;
    }
  }

  /** Clients of others are as if they were not there. */
  private clientOf(
    serverId: string,
    { subject }: Pick<Person, 'subject'>,
  ): RootsClient | undefined {
    const offers = this.offersTo(serverId).filter(
      ({ client }) => client.caller.subject === subject,
    );
    return offers.length === 1 ? offers[0]?.client : undefined;
  }

  private offersTo(serverId: string): Offer[] {
    return [...this.offers].filter(({ serverIds }) => serverIds?.includes(serverId) !== false);
  }

  private clientFor(
    serverId: string,
    user = this.sessions.get(serverId)?.user,
  ): RootsClient | undefined {
    const offers = this.offersTo(serverId);
    const [offer] = offers;
    if (!offer || offers.length > 1) return undefined;
    const { client } = offer;
    return user === undefined || user === client.caller.subject ? client : undefined;
  }

  /** Applies the change and notifies the servers whose roots differ afterwards, so that they request them again. */
  private change({ serverIds, client }: Offer, make: () => void): void {
    const { subject } = client.caller;
    const own = [...this.people.of(subject)];
    const before = this.concerned(serverIds).map((id) => [id, this.clientFor(id)] as const);
    const ownBefore = own.map(([id]) => this.clientOf(id, { subject }));
    make();
    for (const [id, former] of before) {
      if (this.clientFor(id) !== former) this.tell(this.sessions.get(id));
    }
    for (const [i, [id, session]] of own.entries()) {
      if (this.clientOf(id, { subject }) !== ownBefore[i]) this.tell(session);
    }
  }

  private concerned(serverIds: readonly string[] | undefined): readonly string[] {
    return serverIds ?? [...this.catalogue.current.servers.keys()];
  }

  /** Stateless servers request roots within a call. A server without a session requests them in its next one. */
  private tell(session: UpstreamSession | undefined): void {
    if (session?.era === 'legacy') session.notify(CHANGED).catch(() => undefined);
  }
}
