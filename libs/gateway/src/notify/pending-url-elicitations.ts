import { Injectable } from '@nestjs/common';
import type { McpClient } from '@app/mcp-server';
import { rpcCode, UpstreamRpcError } from '@app/mcp-protocol';
import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';

/** Limit on pending elicitations; more than people have open at a time. */
const MAX_OPEN = 10_000;

/** URL elicitations in progress, so that the client is notified when its own is complete. */
@Injectable()
export class PendingUrlElicitations {
  private readonly open = new Map<string, McpClient>();

  noteQuestion(serverId: string, method: string, params: JsonObject, client: McpClient): void {
    if (method === 'elicitation/create') this.note(serverId, params['elicitationId'], client);
  }

  /** A server may also refuse a call until the client has opened a page. */
  noteRefusal(serverId: string, error: unknown, client: McpClient): void {
    if (!(error instanceof UpstreamRpcError) || error.rpc.code !== rpcCode.urlElicitationRequired)
      return;
    const { data } = error.rpc;
    const elicitations = isJsonObject(data) ? data['elicitations'] : undefined;
    if (!Array.isArray(elicitations)) return;
    for (const one of elicitations) {
      if (isJsonObject(one)) this.note(serverId, one['elicitationId'], client);
    }
  }

  complete(serverId: string, params: JsonObject): void {
    const key = keyOf(serverId, params['elicitationId']);
    const client = key === undefined ? undefined : this.open.get(key);
    if (key === undefined || !client) return;
    this.open.delete(key);
    client.tell?.('notifications/elicitation/complete', params);
  }

  private note(serverId: string, id: JsonValue | undefined, client: McpClient): void {
    const key = keyOf(serverId, id);
    // Stateless clients repeat their request instead.
    if (key === undefined || !client.tell) return;
    this.open.set(key, client);
    const [oldest] = this.open.keys();
    if (this.open.size > MAX_OPEN && oldest !== undefined) this.open.delete(oldest);
  }
}

function keyOf(serverId: string, id: JsonValue | undefined): string | undefined {
  return typeof id === 'string' ? `${serverId} ${id}` : undefined;
}
