import { Injectable } from '@nestjs/common';
import type { McpClient } from '@app/mcp-server';
import { rpcCode, UpstreamRpcError } from '@app/mcp-protocol';
import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';

/** Limit on pending elicitations; more than people have open at a time. */
const MAX_OPEN = 10_000;

/** Who was asked to open a page. */
export type AskedClient = Pick<McpClient, 'caller' | 'tell'>;

/** URL elicitations in progress, so that the client is notified when its own is complete. */
@Injectable()
export class PendingUrlElicitations {
  /** Clients by subject, by server and id: the server chooses ids, and its processes of two people may both count from 1. */
  private readonly open = new Map<string, Map<string, AskedClient>>();

  noteQuestion(serverId: string, method: string, params: JsonObject, client: AskedClient): void {
    if (method === 'elicitation/create') this.note(serverId, params['elicitationId'], client);
  }

  /** A server may also refuse a call until the client has opened a page. */
  noteRefusal(serverId: string, error: unknown, client: AskedClient): void {
    if (!(error instanceof UpstreamRpcError) || error.rpc.code !== rpcCode.urlElicitationRequired)
      return;
    const { data } = error.rpc;
    const elicitations = isJsonObject(data) ? data['elicitations'] : undefined;
    if (!Array.isArray(elicitations)) return;
    for (const one of elicitations) {
      if (isJsonObject(one)) this.note(serverId, one['elicitationId'], client);
    }
  }

  /**
   * `subject`: of the person in whose session the server said so. Undefined in a session of several people, where an id
   * that two of them wait for is told to neither (contract R51).
   */
  complete(serverId: string, params: JsonObject, subject: string | undefined): void {
    const key = keyOf(serverId, params['elicitationId']);
    const waiting = key === undefined ? undefined : this.open.get(key);
    if (key === undefined || !waiting) return;
    const [only] = waiting.size === 1 ? waiting.keys() : [];
    const whose = subject ?? only;
    const client = whose === undefined ? undefined : waiting.get(whose);
    if (whose === undefined || !client) return;
    waiting.delete(whose);
    if (waiting.size === 0) this.open.delete(key);
    client.tell?.('notifications/elicitation/complete', params);
  }

  private note(serverId: string, id: JsonValue | undefined, client: AskedClient): void {
    const key = keyOf(serverId, id);
    // Stateless clients repeat their request instead.
    if (key === undefined || !client.tell) return;
    const waiting = this.open.get(key) ?? new Map<string, AskedClient>();
    this.open.set(key, waiting.set(client.caller.subject, client));
    const [oldest] = this.open.keys();
    if (this.open.size > MAX_OPEN && oldest !== undefined) this.open.delete(oldest);
  }
}

function keyOf(serverId: string, id: JsonValue | undefined): string | undefined {
  return typeof id === 'string' ? `${serverId} ${id}` : undefined;
}
