import { isConnectionRequired, PersonCredentials } from '@app/authorization';
import { type Person, personOf } from '@app/access';
import type { CatalogueServer } from '@app/catalogue';
import type { ClientCall } from '@app/mcp-server';
import { Clock, Env, isJsonObject } from '@app/platform';
import { Injectable } from '@nestjs/common';

const LOOK_AGAIN_MS = 500;

type Called = Pick<CatalogueServer, 'id' | 'name' | 'credentials'>;

/**
 * Asks the person behind a client to connect a server, by URL elicitation, and waits until that is done. The page is
 * ours: what is given there reaches neither the client nor its model.
 */
@Injectable()
export class AskToConnect {
  constructor(
    private readonly credentials: PersonCredentials,
    private readonly clock: Clock,
    private readonly env: Env,
  ) {}

  /** Runs the work again after its person has connected; else the error of the first attempt is thrown. */
  async during<T>(call: ClientCall, server: Called, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!isConnectionRequired(error) || server.credentials !== 'per_user') throw error;
      if (!(await this.ask(call, server, error.message))) throw error;
      return work();
    }
  }

  /** False when the client cannot be asked, its person declines, or does not connect in time. */
  private async ask(call: ClientCall, server: Called, message: string): Promise<boolean> {
    const { client, signal } = call;
    if (!takesUrls(client.capabilities)) return false;
    const person = personOf(client.caller);
    // Our own, whatever the error says: it may come from another replica.
    const url = (await this.credentials.link(server.id, person, server.name))?.url;
    if (url === undefined) return false;
    const elicitationId = url.slice(url.lastIndexOf('/') + 1);
    try {
      const params = { mode: 'url', message, url, elicitationId };
      const answer = await call.ask('elicitation/create', params);
      if (answer['action'] !== 'accept') return false;
    } catch {
      // It went away, or answered with an error: the error of the call has the address.
      return false;
    }
    const isDone = await this.isConnected(server.id, person, () => signal.aborted);
    if (isDone) client.tell?.('notifications/elicitation/complete', { elicitationId });
    return isDone;
  }

  private async isConnected(
    serverId: string,
    person: Person,
    isOver: () => boolean,
  ): Promise<boolean> {
    const until = this.clock.monotonic() + this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
    while (!isOver() && this.clock.monotonic() < until) {
      // Read from the rows: the page may have been answered by another replica.
      if (await this.credentials.isConnected(serverId, person)) return true;
      await this.clock.sleep(LOOK_AGAIN_MS);
    }
    return false;
  }
}

/** Declared since 2025-11-25; an empty capability means forms alone. */
function takesUrls(capabilities: ClientCall['client']['capabilities']): boolean {
  const { elicitation } = capabilities;
  return isJsonObject(elicitation) && isJsonObject(elicitation['url']);
}
