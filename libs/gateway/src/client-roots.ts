import { Injectable } from '@nestjs/common';
import { Catalogue } from '@app/discovery';
import type { RootsClient, RootsOffer } from '@app/mcp';
import type { JsonObject } from '@app/platform';
import { SessionPool } from '@app/sessions';

const CHANGED = 'notifications/roots/list_changed';

interface Offer {
  readonly client: RootsClient;
  /** Undefined for clients of all servers. */
  readonly serverId: string | undefined;
}

/**
 * The folders that clients let servers know. A server asks for them when it likes and keeps them, and
 * all clients share its session; so it is told them only while one client offers some and nobody else
 * has used it.
 */
@Injectable()
export class ClientRoots {
  private readonly offers = new Set<Offer>();
  /** By server: who has used it; null when several have. */
  private readonly users = new Map<string, string | null>();

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

  /** What a server gets that asks for roots outside a call. */
  async of(serverId: string): Promise<JsonObject> {
    try {
      return (await this.clientFor(serverId)?.roots()) ?? { roots: [] };
    } catch {
      return { roots: [] };
    }
  }

  noteUser(serverId: string, name: string): void {
    const known = this.users.get(serverId);
    if (known === name || known === null) return;
    this.change(serverId, () => this.users.set(serverId, known === undefined ? name : null));
  }

  forget(serverId: string): void {
    this.users.delete(serverId);
  }

  private clientFor(serverId: string): RootsClient | undefined {
    const offers = [...this.offers].filter((one) => (one.serverId ?? serverId) === serverId);
    const [offer] = offers;
    if (!offer || offers.length > 1) return undefined;
    const { client } = offer;
    const user = this.users.get(serverId);
    return user === undefined || user === client.caller.name ? client : undefined;
  }

  /** Those servers for which it makes a difference ask again. */
  private change(serverId: string | undefined, make: () => void): void {
    const before = this.concerned(serverId).map((id) => [id, this.clientFor(id)] as const);
    make();
    for (const [id, client] of before) if (this.clientFor(id) !== client) this.tell(id);
  }

  private concerned(serverId: string | undefined): readonly string[] {
    return serverId === undefined ? [...this.catalogue.current.servers.keys()] : [serverId];
  }

  /** Stateless servers ask within a call. A session that is gone asks when it is there again. */
  private tell(serverId: string): void {
    const session = this.sessions.get(serverId);
    if (session?.era === 'legacy') session.notify(CHANGED).catch(() => undefined);
  }
}
