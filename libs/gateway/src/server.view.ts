import type { CatalogueServer } from '@app/discovery';
import type {
  ClientCall,
  McpView,
  RootsClient,
  RootsOffer,
  RpcResult,
  ServerChange,
  ServerDescription,
} from '@app/mcp';
import type { JsonObject } from '@app/platform';
import { ToolNotFound } from '@app/routing';
import type { ClientRoots } from './client-roots.js';
import type { ResourceSubscriptions } from './resource-subscriptions.js';
import type { ServerLogs } from './server-logs.js';
import type { ServerNews } from './server-news.js';
import type { Upstreams } from './upstreams.js';

/** `/mcp/servers/{name}`: one server under its own names, everything it says handed on as it says it. */
export class ServerView implements McpView {
  readonly key: string;
  serverInfo: JsonObject;
  private description: ServerDescription = { capabilities: {} };

  constructor(
    private readonly server: CatalogueServer,
    private readonly upstreams: Upstreams,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly logs: ServerLogs,
    private readonly news: ServerNews,
    private readonly roots: ClientRoots,
  ) {
    this.key = `server:${server.id}`;
    this.serverInfo = { name: server.name, version: 'unknown' };
  }

  async ready(): Promise<void> {
    const { serverInfo, capabilities, instructions } = await this.upstreams.session(this.server);
    this.serverInfo = serverInfo;
    this.description = {
      capabilities,
      ...(instructions !== undefined && { instructions }),
    };
  }

  describe(): ServerDescription {
    return this.description;
  }

  async request(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    switch (method) {
      case 'tools/call':
        return this.callTool(params, call);
      case 'logging/setLevel':
        await this.logs.want(params['level'], [await this.upstreams.session(this.server)]);
        return {};
      default:
        return this.upstreams.request(this.server, method, params, call);
    }
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.upstreams.inputSchemaOf(tool, this.server.id);
  }

  async subscribe(uri: string): Promise<() => void> {
    const session = await this.upstreams.session(this.server);
    return this.subscriptions.subscribe(this.server.id, uri, session);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.roots.offer(client, this.server.id);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    return this.news.watch((serverId, change) => {
      if (serverId === this.server.id) listener(change);
    });
  }

  private async callTool(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    try {
      return await this.upstreams.callTool(params, call, this.server.id);
    } catch (error) {
      // A tool that is not in the catalogue is for the server to refuse, in its own words.
      if (!(error instanceof ToolNotFound)) throw error;
      return this.upstreams.request(this.server, 'tools/call', params, call);
    }
  }
}
