import { type CatalogueServer, ToolNotFound } from '@app/catalogue';
import type {
  ClientCall,
  McpClient,
  McpSurface,
  RootsClient,
  RootsOffer,
  ServerChange,
  ServerDescription,
} from '@app/mcp-server';
import type { RpcResult } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import type { ClientRoots } from '../notify/client-roots.js';
import type { LoopGuard } from './loop-guard.js';
import type { ResourceSubscriptions } from '../notify/resource-subscriptions.js';
import type { ServerLogs } from '../notify/server-logs.js';
import type { ServerNotifications } from '../notify/server-notifications.js';
import type { RequestForwarder } from '../forward/request-forwarder.js';

/** `/mcp/servers/{name}`: one server under its original names, everything passed on unchanged. */
export class ServerSurface implements McpSurface {
  readonly key: string;
  serverInfo: JsonObject;
  private description: ServerDescription = { capabilities: {} };

  constructor(
    private server: CatalogueServer,
    private readonly forwarder: RequestForwarder,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly logs: ServerLogs,
    private readonly notifications: ServerNotifications,
    private readonly roots: ClientRoots,
    private readonly loops: LoopGuard,
  ) {
    this.key = `server:${server.id}`;
    this.serverInfo = { name: server.name, version: 'unknown' };
  }

  /** Updates the server after a change of name or status. */
  follow(server: CatalogueServer): void {
    this.server = server;
  }

  async ready(): Promise<void> {
    const session = await this.forwarder.session(this.server);
    const { serverInfo, capabilities, instructions, provenance } = session;
    this.serverInfo = serverInfo;
    this.description = {
      capabilities,
      ...(instructions !== undefined && { instructions }),
      meta: this.loops.introduction(provenance.via),
    };
  }

  describe(): ServerDescription {
    return this.description;
  }

  async handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const loop = this.loops.refusalOf(params);
    if (loop) throw loop;
    switch (method) {
      case 'tools/call':
        return this.call(params, call);
      case 'logging/setLevel':
        await this.forwarder.session(this.server);
        await this.logs.want(call.client, params['level'], this.server.id);
        return {};
      default:
        return this.forwarder.request(this.server, method, params, call);
    }
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.forwarder.inputSchemaOf(tool, this.server.id);
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    const session = await this.forwarder.session(this.server);
    return this.subscriptions.subscribe(this.server.id, uri, session, onUpdated);
  }

  forget(client: McpClient): void {
    this.logs.forget(client);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.roots.offer(client, this.server.id);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    return this.notifications.watch((serverId, change) => {
      if (serverId === this.server.id) listener(change);
    });
  }

  private async call(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    try {
      return await this.forwarder.call(params, call, this.server.id);
    } catch (error) {
      // A tool that is not in the catalogue is left for the server to refuse.
      if (!(error instanceof ToolNotFound)) throw error;
      return this.forwarder.request(this.server, 'tools/call', params, call);
    }
  }
}
