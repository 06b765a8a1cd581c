import { isConnectionRequired, PersonCredentials } from '@app/authorization';
import { type Actor, personOf } from '@app/access';
import type { ClientCall } from '@app/mcp-server';
import { type AppError, Clock, Env, isJsonObject } from '@app/platform';
import { Injectable } from '@nestjs/common';

const LOOK_AGAIN_MS = 500;

/** What the error of a server that the caller has to connect first says. */
interface Required {
  readonly serverId: string;
  readonly url: string;
  readonly message: string;
}

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
  async during<T>(call: ClientCall, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const required = isConnectionRequired(error) ? requiredBy(error) : undefined;
      if (!required || !(await this.ask(call, required))) throw error;
      return work();
    }
  }

  /** False when the client cannot be asked, its person declines, or does not connect in time. */
  private async ask(call: ClientCall, { serverId, url, message }: Required): Promise<boolean> {
    const { client, signal } = call;
    if (!takesUrls(client.capabilities)) return false;
    const elicitationId = url.slice(url.lastIndexOf('/') + 1);
    try {
      const params = { mode: 'url', message, url, elicitationId };
      const answer = await call.ask('elicitation/create', params);
      if (answer['action'] !== 'accept') return false;
    } catch {
      // It went away, or answered with an error: the error of the call has the address.
      return false;
    }
    const isDone = await this.isConnected(serverId, client.caller, () => signal.aborted);
    if (isDone) client.tell?.('notifications/elicitation/complete', { elicitationId });
    return isDone;
  }

  private async isConnected(
    serverId: string,
    caller: Actor,
    isOver: () => boolean,
  ): Promise<boolean> {
    const until = this.clock.monotonic() + this.env.MCP_AGGREGATOR_REQUEST_TIMEOUT * 1_000;
    while (!isOver() && this.clock.monotonic() < until) {
      // Read from the rows: the page may have been answered by another replica.
      if (await this.credentials.isConnected(serverId, personOf(caller))) return true;
      await this.clock.sleep(LOOK_AGAIN_MS);
    }
    return false;
  }
}

function requiredBy({ message, context }: AppError): Required | undefined {
  const { server_id: serverId, connect_url: url } = context ?? {};
  const isComplete = typeof serverId === 'string' && typeof url === 'string';
  return isComplete ? { serverId, url, message } : undefined;
}

/** Declared since 2025-11-25; an empty capability means forms alone. */
function takesUrls(capabilities: ClientCall['client']['capabilities']): boolean {
  const { elicitation } = capabilities;
  return isJsonObject(elicitation) && isJsonObject(elicitation['url']);
}
