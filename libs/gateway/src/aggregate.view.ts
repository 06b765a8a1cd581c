import { Injectable } from '@nestjs/common';
import { QueryTool } from '@app/aggregation';
import { Catalogue, type CatalogueServer } from '@app/discovery';
import {
  type ClientCall,
  type McpView,
  type RootsClient,
  type RootsOffer,
  rpcCode,
  RpcError,
  type RpcResult,
  type ServerChange,
  type ServerDescription,
} from '@app/mcp';
import { isJsonObject, type JsonObject, type JsonValue, product } from '@app/platform';
import { SessionPool } from '@app/sessions';
import { ClientRoots } from './client-roots.js';
import { aggregateInstructions } from './instructions.js';
import { listedTools, toolsPage } from './listed-tools.js';
import { Offerings } from './offerings.js';
import { pageOf } from './paging.js';
import { callQueryTool } from './query-tool-call.js';
import { ResourceSubscriptions } from './resource-subscriptions.js';
import { ServerLogs } from './server-logs.js';
import { ServerNews } from './server-news.js';
import { Upstreams } from './upstreams.js';

/** `/mcp`: what all servers offer, as if one server offered it. */
@Injectable()
export class AggregateView implements McpView {
  readonly key = 'aggregate';
  readonly serverInfo = { ...product };

  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
    private readonly upstreams: Upstreams,
    private readonly offerings: Offerings,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly logs: ServerLogs,
    private readonly news: ServerNews,
    private readonly queryTool: QueryTool,
    private readonly roots: ClientRoots,
  ) {}

  async ready(): Promise<void> {
    // What it says of itself does not depend on any server.
  }

  describe(): ServerDescription {
    return {
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { subscribe: true, listChanged: true },
        completions: {},
        logging: {},
      },
      instructions: aggregateInstructions(this.catalogue.current, this.sessions),
    };
  }

  request(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    if (method !== 'tools/call') return this.answer(method, params, call);
    return this.queryTool.answersTo(params['name'])
      ? callQueryTool(this.queryTool, params, call)
      : this.upstreams.callTool(params, call);
  }

  private async answer(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    switch (method) {
      case 'tools/list':
        return toolsPage(listedTools(this.catalogue.current), params['cursor'], [
          this.queryTool.listing,
        ]);
      case 'prompts/list': {
        const page = pageOf(this.offerings.prompts(), ({ name }) => name, params['cursor']);
        return { prompts: page.items.map((prompt) => prompt.definition), ...page.next };
      }
      case 'prompts/get':
        return this.getPrompt(params, call);
      case 'resources/list':
        return { resources: [...this.offerings.resources()] };
      case 'resources/templates/list':
        return { resourceTemplates: [...this.offerings.resourceTemplates()] };
      case 'resources/read':
        return this.upstreams.request(this.serverOf(params['uri']), method, params, call);
      case 'completion/complete':
        return this.complete(params, call);
      case 'logging/setLevel':
        await this.logs.want(params['level'], this.openSessions());
        return {};
      default:
        throw new RpcError(rpcCode.methodNotFound, 'Method not found');
    }
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.upstreams.inputSchemaOf(tool);
  }

  async subscribe(uri: string): Promise<() => void> {
    const server = this.serverOf(uri);
    const session = await this.upstreams.session(server);
    return this.subscriptions.subscribe(server.id, uri, session);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.roots.offer(client);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    const stops = [
      this.catalogue.subscribe((next, previous) => {
        if (listedTools(next) !== listedTools(previous)) listener({ kind: 'tools' });
      }),
      this.offerings.watch((kind) => listener({ kind })),
      this.news.watch((_serverId, change) => {
        if (change.kind === 'resource' || change.kind === 'log') listener(change);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  private getPrompt(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { server, originalName } = this.promptNamed(params['name']);
    const own = { ...params, name: originalName };
    return this.upstreams.request(server, 'prompts/get', own, call);
  }

  private complete(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const ref = isJsonObject(params['ref']) ? params['ref'] : {};
    if (ref['type'] === 'ref/prompt') {
      const { server, originalName } = this.promptNamed(ref['name']);
      const own = { ...params, ref: { ...ref, name: originalName } };
      return this.upstreams.request(server, 'completion/complete', own, call);
    }
    const server = this.serverOf(ref['uri']);
    return this.upstreams.request(server, 'completion/complete', params, call);
  }

  private promptNamed(name: JsonValue | undefined): {
    server: CatalogueServer;
    originalName: string;
  } {
    const prompt = typeof name === 'string' ? this.offerings.findPrompt(name) : undefined;
    if (!prompt)
      throw new RpcError(rpcCode.invalidParams, `Prompt not found: ${JSON.stringify(name)}`);
    return prompt;
  }

  private serverOf(uri: JsonValue | undefined): CatalogueServer {
    if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'uri must be a string');
    const server = this.offerings.serverOf(uri);
    if (!server) {
      throw new RpcError(rpcCode.resourceNotFound, `Resource not found: ${uri}`, { uri });
    }
    return server;
  }

  private openSessions() {
    return [...this.catalogue.current.servers.keys()]
      .map((id) => this.sessions.get(id))
      .filter((session) => session !== undefined);
  }
}
