import { Injectable } from '@nestjs/common';
import { QueryTool } from '@app/aggregation';
import { Catalogue, type CatalogueServer, type CatalogueTool } from '@app/catalogue';
import type {
  ClientCall,
  McpClient,
  McpSurface,
  RootsClient,
  RootsOffer,
  ServerChange,
  ServerDescription,
} from '@app/mcp-server';
import { rpcCode, RpcError, type RpcResult } from '@app/mcp-protocol';
import {
  changed,
  Clock,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  product,
} from '@app/platform';
import { ClientRoots } from '../notify/client-roots.js';
import { aggregateInstructions } from './instructions.js';
import { type ListChange, ListChangeNotices } from '../notify/list-change-notices.js';
import { isSameList, listedTools, toolsPage } from '../lists/listed-tools.js';
import { LoopGuard } from './loop-guard.js';
import { Offerings } from '../lists/offerings.js';
import type { OfferedPrompt } from '../lists/offerings-view.js';
import { callQueryTool } from '../forward/query-tool-call.js';
import { ResourceSubscriptions } from '../notify/resource-subscriptions.js';
import { ServerInstructions } from '../lists/server-instructions.js';
import { ServerLogs } from '../notify/server-logs.js';
import { ServerNotifications } from '../notify/server-notifications.js';
import { RequestForwarder } from '../forward/request-forwarder.js';

/** `/mcp`: the offerings of all servers, presented as one server. */
@Injectable()
export class AggregateSurface implements McpSurface {
  readonly key = 'aggregate';
  readonly serverInfo = { ...product };
  private readonly changes: ListChangeNotices;
  /** The tool list as of the last change notification. */
  private listed: readonly CatalogueTool[] = [];

  constructor(
    private readonly catalogue: Catalogue,
    private readonly instructions: ServerInstructions,
    private readonly forwarder: RequestForwarder,
    private readonly offerings: Offerings,
    private readonly subscriptions: ResourceSubscriptions,
    private readonly logs: ServerLogs,
    private readonly notifications: ServerNotifications,
    private readonly queryTool: QueryTool,
    private readonly roots: ClientRoots,
    private readonly loops: LoopGuard,
    clock: Clock,
  ) {
    this.changes = new ListChangeNotices(clock);
  }

  /** Notifies clients when the list of tools they see has changed. */
  followCatalogue(): void {
    if (this.changes.isUnheard) return;
    const listed = listedTools(this.catalogue.current);
    if (!isSameList(listed, this.listed)) this.changes.tell('tools');
    this.listed = listed;
  }

  listChanged(kind: ListChange['kind']): void {
    this.changes.tell(kind);
  }

  async ready(): Promise<void> {
    // The description does not depend on any server.
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
      instructions: aggregateInstructions(this.catalogue.current, this.instructions),
      meta: this.loops.introduction(),
    };
  }

  handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const loop = this.loops.refusalOf(params);
    if (loop) return Promise.reject(loop);
    if (method !== 'tools/call') return this.answer(method, params, call);
    return this.queryTool.answersTo(params['name'])
      ? callQueryTool(this.queryTool, params, call)
      : this.forwarder.call(params, call);
  }

  private async answer(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    switch (method) {
      case 'tools/list':
        return toolsPage(listedTools(this.catalogue.current), params['cursor'], [
          this.queryTool.listing,
        ]);
      case 'prompts/list':
        return this.offerings.view.page('prompts', params['cursor']);
      case 'prompts/get':
        return this.getPrompt(params, call);
      case 'resources/list':
        return this.offerings.view.page('resources', params['cursor']);
      case 'resources/templates/list':
        return this.offerings.view.page('resourceTemplates', params['cursor']);
      case 'resources/read':
        return this.forwarder.request(this.serverOf(params['uri']), method, params, call);
      case 'completion/complete':
        return this.complete(params, call);
      case 'logging/setLevel':
        await this.logs.want(call.client, params['level']);
        return {};
      default:
        throw new RpcError(rpcCode.methodNotFound, 'Method not found');
    }
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.forwarder.inputSchemaOf(tool);
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    const server = this.serverOf(uri);
    const session = await this.forwarder.session(server);
    return this.subscriptions.subscribe(server.id, uri, session, onUpdated);
  }

  forget(client: McpClient): void {
    this.logs.forget(client);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.roots.offer(client);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    if (this.changes.isUnheard) this.listed = listedTools(this.catalogue.current);
    const stops = [
      this.changes.watch(listener),
      this.notifications.watch((_serverId, change) => {
        if (change.kind === 'log') listener(change);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  private getPrompt(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { server, originalName } = this.promptNamed(params['name']);
    const own = changed(params, { name: originalName });
    return this.forwarder.request(server, 'prompts/get', own, call);
  }

  private complete(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const ref = isJsonObject(params['ref']) ? params['ref'] : {};
    if (ref['type'] === 'ref/prompt') {
      const { server, originalName } = this.promptNamed(ref['name']);
      const own = changed(params, { ref: changed(ref, { name: originalName }) });
      return this.forwarder.request(server, 'completion/complete', own, call);
    }
    const server = this.serverOf(ref['uri'], (uri) => this.offerings.ownerOfReference(uri));
    return this.forwarder.request(server, 'completion/complete', params, call);
  }

  private promptNamed(name: JsonValue | undefined): OfferedPrompt {
    const prompt = typeof name === 'string' ? this.offerings.view.findPrompt(name) : undefined;
    if (!prompt)
      throw new RpcError(rpcCode.invalidParams, `Prompt not found: ${JSON.stringify(name)}`);
    return prompt;
  }

  private serverOf(
    uri: JsonValue | undefined,
    ownerOf = (text: string) => this.offerings.ownerOf(text),
  ): CatalogueServer {
    if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'uri must be a string');
    const server = ownerOf(uri);
    if (!server) {
      throw new RpcError(rpcCode.resourceNotFound, `Resource not found: ${uri}`, { uri });
    }
    return server;
  }
}
