import type { CatalogueServer, CatalogueTool } from '@app/catalogue';
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
import { changed, isJsonObject, type JsonObject, type JsonValue, product } from '@app/platform';
import { callQueryTool } from '../forward/query-tool-call.js';
import { isSameList, listedTools, toolsPage } from '../lists/listed-tools.js';
import type { OfferedPrompt, OfferingsView } from '../lists/offerings-view.js';
import { type ListChange, ListChangeNotices } from '../notify/list-change-notices.js';
import { aggregateInstructions } from './instructions.js';
import type { ShownOffer } from './shown-offer.js';
import type { SurfaceDependencies } from './surface-dependencies.js';

/** `/mcp` and `/mcp/views/{slug}`: what a view offers of all servers, presented as one server. */
export class AggregateSurface implements McpSurface {
  readonly key: string;
  readonly serverInfo = { ...product };
  private readonly changes: ListChangeNotices;
  /** The tool list as of the last change notification. */
  private listed: readonly CatalogueTool[] = [];

  constructor(
    private readonly shown: ShownOffer,
    private readonly deps: SurfaceDependencies,
  ) {
    this.key = `aggregate${shown.key}`;
    this.changes = new ListChangeNotices(deps.clock);
  }

  /** Notifies clients when the list of tools they see has changed. */
  followCatalogue(): void {
    if (this.changes.isUnheard) return;
    const listed = listedTools(this.shown.catalogue);
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
      instructions: aggregateInstructions(this.shown, this.deps.instructions),
      meta: this.deps.loops.introduction(),
    };
  }

  handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const loop = this.deps.loops.refusalOf(params);
    if (loop) return Promise.reject(loop);
    if (method !== 'tools/call') return this.answer(method, params, call);
    return this.deps.queryTool.answersTo(params['name'])
      ? callQueryTool(this.deps.queryTool, params, call, this.shown.offer)
      : this.deps.forwarder.call(this.shown.catalogue, params, call, {
          budgetTokens: this.shown.budgetTokens,
        });
  }

  private async answer(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    switch (method) {
      case 'tools/list':
        return toolsPage(listedTools(this.shown.catalogue), params['cursor'], [
          this.deps.queryTool.listing,
        ]);
      case 'prompts/list':
        return this.offerings.page('prompts', params['cursor']);
      case 'prompts/get':
        return this.getPrompt(params, call);
      case 'resources/list':
        return this.offerings.page('resources', params['cursor']);
      case 'resources/templates/list':
        return this.offerings.page('resourceTemplates', params['cursor']);
      case 'resources/read':
        return this.readResource(params, call);
      case 'completion/complete':
        return this.complete(params, call);
      case 'logging/setLevel':
        await this.deps.logs.want(call.client, params['level'], this.serversToTell);
        return {};
      default:
        throw new RpcError(rpcCode.methodNotFound, 'Method not found');
    }
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.deps.forwarder.inputSchemaOf(this.shown.catalogue, tool);
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    const server = this.serverOf(uri);
    const session = await this.deps.forwarder.subscribable(server);
    // The view may leave it out later.
    return this.deps.subscriptions.subscribe(server.id, uri, session, () => {
      if (this.deps.offerings.ownerOf(uri, this.shown.offer)?.id === server.id) onUpdated();
    });
  }

  forget(client: McpClient): void {
    this.deps.logs.forget(client);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.deps.roots.offer(client, this.serversToTell);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    if (this.changes.isUnheard) this.listed = listedTools(this.shown.catalogue);
    const stops = [
      this.changes.watch(listener),
      this.deps.notifications.watch((serverId, change) => {
        if (change.kind === 'log' && this.shown.catalogue.servers.has(serverId)) listener(change);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  private get offerings(): OfferingsView {
    return this.deps.offerings.viewOf(this.shown.offer);
  }

  /** Undefined for all servers, also those to come. */
  private get serversToTell(): readonly string[] | undefined {
    return this.shown.offer.isEverything ? undefined : [...this.shown.catalogue.servers.keys()];
  }

  /** URIs of kept results are reserved, whatever servers list. */
  private readResource(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { uri } = params;
    const { keptResults, forwarder } = this.deps;
    return keptResults.isOne(uri)
      ? keptResults.read(uri, call.client.caller.subject)
      : forwarder.request(this.serverOf(uri), 'resources/read', params, call);
  }

  private getPrompt(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { server, originalName } = this.promptNamed(params['name']);
    const own = changed(params, { name: originalName });
    return this.deps.forwarder.request(server, 'prompts/get', own, call);
  }

  private complete(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const ref = isJsonObject(params['ref']) ? params['ref'] : {};
    if (ref['type'] === 'ref/prompt') {
      const { server, originalName } = this.promptNamed(ref['name']);
      const own = changed(params, { ref: changed(ref, { name: originalName }) });
      return this.deps.forwarder.request(server, 'completion/complete', own, call);
    }
    const server = this.serverOf(ref['uri'], (uri) =>
      this.deps.offerings.ownerOfReference(uri, this.shown.offer),
    );
    return this.deps.forwarder.request(server, 'completion/complete', params, call);
  }

  private promptNamed(name: JsonValue | undefined): OfferedPrompt {
    const prompt = typeof name === 'string' ? this.offerings.findPrompt(name) : undefined;
    if (!prompt)
      throw new RpcError(rpcCode.invalidParams, `Prompt not found: ${JSON.stringify(name)}`);
    return prompt;
  }

  private serverOf(
    uri: JsonValue | undefined,
    ownerOf = (text: string) => this.deps.offerings.ownerOf(text, this.shown.offer),
  ): CatalogueServer {
    if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'uri must be a string');
    const server = ownerOf(uri);
    if (!server) {
      throw new RpcError(rpcCode.resourceNotFound, `Resource not found: ${uri}`, { uri });
    }
    return server;
  }
}
