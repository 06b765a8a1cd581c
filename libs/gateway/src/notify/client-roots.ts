import { Injectable } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import type { RootsClient, RootsOffer } from '@app/mcp-server';
import type { RootsProvider } from '@app/mcp-client';
import { SessionPool } from '@app/sessions';

const CHANGED = 'notifications/roots/list_changed';

type OfferedRoots = Awaited<ReturnType<RootsProvider>>;
const NONE: OfferedRoots = { result: { roots: [] } };

interface Offer {
  readonly client: RootsClient;
  /** Undefined for clients of the aggregate endpoint, which serve all servers. */
  readonly serverId: string | undefined;
}

/**
 * Roots that clients offer to servers. All clients share the session of a server, and a server may request roots
 * at any time and keep them. So roots are given only while exactly one client offers some and no other user has
 * used the session; the session withdraws them before it serves another user.
 */
@Injectable()
export class ClientRoots {
  private readonly offers = new Set<Offer>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
  ) {}

  offer(client: RootsClient, serverId?: string): RootsOffer {
    const offer: Offer = { client, serverId };
    this.change(serverId, () => this.offers.add(offer));
    return {
      changed: () => {
        for (const id of this.concerned(serverId)) {
          if (this.clientFor(id) === client) this.tell(id);
        }
      },
      release: () => this.change(serverId, () => this.offers.delete(offer)),
    };
  }

  /** The answer to a `roots/list` request outside of any call. */
  async of(serverId: string, user: string | null | undefined): Promise<OfferedRoots> {
    const client = this.clientFor(serverId, user);
    if (!client) return NONE;
    try {
      return { result: await client.roots(), principal: client.caller.name };
    } catch {
      return NONE;
    }
  }

  private clientFor(
    serverId: string,
    user = this.sessions.get(serverId)?.user,
  ): RootsClient | undefined {
    const offers = [...this.offers].filter((one) => (one.serverId ?? serverId) === serverId);
    const [offer] = offers;
    if (!offer || offers.length > 1) return undefined;
    const { client } = offer;
    return user === undefined || user === client.caller.name ? client : undefined;
  }

  /** Applies the change and notifies the servers whose roots differ afterwards, so that they request them again. */
  private change(serverId: string | undefined, make: () => void): void {
    const before = this.concerned(serverId).map((id) => [id, this.clientFor(id)] as const);
    make();
    for (const [id, client] of before) if (this.clientFor(id) !== client) this.tell(id);
  }

  private concerned(serverId: string | undefined): readonly string[] {
    return serverId === undefined ? [...this.catalogue.current.servers.keys()] : [serverId];
  }

  /** Stateless servers request roots within a call. A server without a session requests them in its next one. */
  private tell(serverId: string): void {
    const session = this.sessions.get(serverId);
    if (session?.era === 'legacy') session.notify(CHANGED).catch(() => undefined);
  }
}
