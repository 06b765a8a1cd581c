import type { Caller } from '@app/mcp-server';
import type { PassedCaller } from '@app/sessions';
import type { AskedClient } from '../notify/pending-url-elicitations.js';
import type { ReplicaNotices } from '../notify/replica-notices.js';

/** Clients of other replicas in calls here; a forgotten one counts as another client. */
const MAX_CLIENTS = 10_000;

/**
 * Clients are compared by identity, to tell which one a message of a server is for (contract R51): a client of another
 * replica is the same object in all of its calls.
 */
export class PassedClients {
  private readonly clients = new Map<string, object>();

  constructor(private readonly notices: Pick<ReplicaNotices, 'tellPageDone'>) {}

  /** The client of a call, for what a server says to it after the call. */
  asked(serverId: string, { replica, name }: PassedCaller, caller: Caller): AskedClient {
    return {
      caller,
      tell: (_method, params) => this.notices.tellPageDone(replica, serverId, params, name),
    };
  }

  get(id: string): object {
    const client = this.clients.get(id) ?? { id };
    this.clients.delete(id);
    this.clients.set(id, client);
    if (this.clients.size > MAX_CLIENTS) {
      for (const oldest of this.clients.keys()) {
        this.clients.delete(oldest);
        break;
      }
    }
    return client;
  }
}
