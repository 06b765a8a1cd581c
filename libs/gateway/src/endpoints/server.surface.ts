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
import { rpcCode, RpcError, type RpcResult } from '@app/mcp-protocol';
import { isJsonObject, type JsonObject, RawJsonObject } from '@app/platform';
import type { ShownOffer } from './shown-offer.js';
import type { SurfaceDependencies } from './surface-dependencies.js';

/**
 * `/mcp/servers/{name}`: one server under its original names. What the default view offers of it as it is, is passed on
 * unchanged; of a server that is offered in part, only what is offered.
 */
export class ServerSurface implements McpSurface {
  readonly key: string;
  serverInfo: JsonObject;
  private description: ServerDescription = { capabilities: {} };

  constructor(
    private server: CatalogueServer,
    private readonly shown: ShownOffer,
    private readonly deps: SurfaceDependencies,
  ) {
    this.key = `server:${server.id}${shown.key}`;
    this.serverInfo = { name: server.name, version: 'unknown' };
  }

  /** Updates the server after a change of name or status. */
  follow(server: CatalogueServer): void {
    this.server = server;
  }

  async ready(): Promise<void> {
    const session = await this.deps.forwarder.session(this.server);
    const { serverInfo, capabilities, instructions, provenance } = session;
    this.serverInfo = serverInfo;
    this.description = {
      capabilities: this.deps.keptResults.capabilities(capabilities, this.shown.offer),
      ...(instructions !== undefined && { instructions }),
      meta: this.deps.loops.introduction(provenance.via),
    };
  }

  describe(): ServerDescription {
    return this.description;
  }

  async handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const loop = this.deps.loops.refusalOf(params);
    if (loop) throw loop;
    switch (method) {
      case 'tools/call':
        return this.call(params, call);
      case 'logging/setLevel':
        await this.deps.forwarder.session(this.server);
        await this.deps.logs.want(call.client, params['level'], [this.server.id]);
        return {};
      case 'resources/list':
        return (await this.hasOnlyKeptResults())
          ? { resources: [] }
          : this.request(method, params, call);
      case 'resources/templates/list':
        return (await this.hasOnlyKeptResults())
          ? { resourceTemplates: [] }
          : this.request(method, params, call);
      case 'resources/read':
        return this.readResource(params, call);
      default:
        return this.request(method, params, call);
    }
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.deps.forwarder.inputSchemaOf(this.shown.catalogue, tool, this.server.id);
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    this.refuseUnoffered(uri);
    const session = await this.deps.forwarder.session(this.server);
    return this.deps.subscriptions.subscribe(this.server.id, uri, session, onUpdated);
  }

  forget(client: McpClient): void {
    this.deps.logs.forget(client);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.deps.roots.offer(client, [this.server.id]);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    return this.deps.notifications.watch((serverId, change) => {
      if (serverId === this.server.id) listener(change);
    });
  }

  /** A result that is not kept here may be kept by the server, if that is an aggregator too. */
  private async readResource(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { uri } = params;
    const { keptResults, forwarder } = this.deps;
    if (keptResults.isOne(uri)) {
      const kept = await keptResults.find(uri, call.client.caller.name);
      if (kept) return kept;
      if (await this.hasOnlyKeptResults()) throw keptResults.notFound(uri);
    }
    this.refuseUnoffered(textIn(params, 'uri'));
    return forwarder.request(this.server, 'resources/read', params, call);
  }

  private async hasOnlyKeptResults(): Promise<boolean> {
    const { capabilities } = await this.deps.forwarder.session(this.server);
    return this.deps.keptResults.isAdded(capabilities, this.shown.offer);
  }

  private get isWhole(): boolean {
    const { id } = this.server;
    const { offer, catalogue } = this.shown;
    const isAllOffered =
      !catalogue.withheld.toolsByServer.has(id) &&
      this.deps.offerings.withheldPromptsOf(id).size === 0;
    return isAllOffered && offer.isWholeServer(id);
  }

  private async call(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { forwarder } = this.deps;
    try {
      return await forwarder.call(
        this.shown.catalogue,
        params,
        call,
        this.server.id,
        this.shown.budgetTokens,
      );
    } catch (error) {
      // A tool that is not in the catalogue is left for the server to refuse.
      if (!(error instanceof ToolNotFound) || !this.isWhole) throw error;
      return forwarder.callUnlisted(this.server, params, call, this.shown.budgetTokens);
    }
  }

  private request(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    return this.isWhole
      ? this.deps.forwarder.request(this.server, method, params, call)
      : this.requestPart(method, params, call);
  }

  /** For a server of which a part is offered, or not as it is. */
  private async requestPart(
    method: string,
    params: JsonObject,
    call: ClientCall,
  ): Promise<RpcResult> {
    const { id } = this.server;
    const { offer } = this.shown;
    const ask = (): Promise<RpcResult> =>
      this.deps.forwarder.request(this.server, method, params, call);
    switch (method) {
      case 'tools/list':
        return withItems(await ask(), 'tools', this.listing());
      case 'prompts/list':
        return withItems(await ask(), 'prompts', (item) =>
          this.offersPrompt(textIn(item, 'name')) ? item : undefined,
        );
      case 'resources/list':
        return withItems(await ask(), 'resources', (item) =>
          offer.offers('resource', id, textIn(item, 'uri')) ? item : undefined,
        );
      case 'resources/templates/list':
        return withItems(await ask(), 'resourceTemplates', (item) =>
          offer.offers('resource', id, textIn(item, 'uriTemplate')) ? item : undefined,
        );
      case 'prompts/get':
        this.refuseUnofferedPrompt(params);
        return ask();
      case 'completion/complete': {
        const ref = isJsonObject(params['ref']) ? params['ref'] : {};
        if (ref['type'] === 'ref/prompt') this.refuseUnofferedPrompt(ref);
        else this.refuseUnoffered(textIn(ref, 'uri'));
        return ask();
      }
      default:
        throw new RpcError(rpcCode.methodNotFound, 'Method not found');
    }
  }

  /** Gives the item of the server, or the tool as the view offers it. */
  private listing(): (item: JsonObject) => JsonObject | undefined {
    const own = this.shown.catalogue.toolsByServer.get(this.server.id) ?? [];
    // Of all tools at once: looking each up in the list would take quadratic time.
    const offered = new Map(own.map((tool) => [tool.originalName, tool]));
    return (item) => {
      const tool = offered.get(textIn(item, 'name'));
      if (!tool?.offeredAs) return tool && item;
      return { ...tool.definition, name: tool.offeredAs.name ?? tool.originalName };
    };
  }

  private offersPrompt(name: string): boolean {
    const { id } = this.server;
    return (
      this.shown.offer.offers('prompt', id, name) &&
      !this.deps.offerings.withheldPromptsOf(id).has(name)
    );
  }

  private refuseUnofferedPrompt(named: JsonObject): void {
    if (this.offersPrompt(textIn(named, 'name'))) return;
    const name = JSON.stringify(named['name']);
    throw new RpcError(rpcCode.invalidParams, `Prompt not found: ${name}`);
  }

  private refuseUnoffered(uri: string): void {
    if (this.isWhole || this.deps.offerings.offersUri(this.server.id, uri, this.shown.offer))
      return;
    throw new RpcError(rpcCode.resourceNotFound, `Resource not found: ${uri}`, { uri });
  }
}

function textIn(object: JsonObject, key: string): string {
  const text = object[key];
  return typeof text === 'string' ? text : '';
}

/** A page of a list with other items. */
function withItems(
  result: RpcResult,
  key: string,
  offered: (item: JsonObject) => JsonObject | undefined,
): RpcResult {
  const items = result instanceof RawJsonObject ? result.get(key) : result[key];
  const kept = (Array.isArray(items) ? items : []).flatMap((item) =>
    isJsonObject(item) ? (offered(item) ?? []) : [],
  );
  return result instanceof RawJsonObject
    ? result.with({ [key]: kept })
    : { ...result, [key]: kept };
}
