import { type CatalogueServer, type CatalogueTool, ToolNotFound } from '@app/catalogue';
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
  isJsonObject,
  type JsonObject,
  type JsonValue,
  RawJsonObject,
} from '@app/platform';
import { isSameList } from '../lists/listed-tools.js';
import { type ListChange, ListChangeNotices } from '../notify/list-change-notices.js';
import { shownInstructions } from './instructions.js';
import type { ShownOffer } from './shown-offer.js';
import type { SurfaceDependencies } from './surface-dependencies.js';

/**
 * `/mcp/servers/{name}`: one server under its original names. What the default view offers of it as it is, is passed on
 * unchanged; of a server that is offered in part, only what is offered.
 */
export class ServerSurface implements McpSurface {
  readonly key: string;
  serverInfo: JsonObject;
  private description: Omit<ServerDescription, 'instructions'> = { capabilities: {} };
  private readonly changes: ListChangeNotices;
  /** The offered tools as of the last change notification. */
  private listed: readonly CatalogueTool[] = [];
  private wasWhole = true;

  constructor(
    private server: CatalogueServer,
    private readonly shown: ShownOffer,
    private readonly deps: SurfaceDependencies,
  ) {
    this.key = `server:${server.id}${shown.key}`;
    this.serverInfo = { name: server.name, version: 'unknown' };
    this.changes = new ListChangeNotices(deps.clock);
  }

  /** Updates the server after a change of name or status. */
  follow(server: CatalogueServer): void {
    this.server = server;
  }

  /** Notifies clients when another part of the server is offered; of changes of the whole it notifies them itself. */
  followCatalogue(): void {
    if (this.changes.isUnheard) return;
    const { listed, wasWhole } = this;
    this.noteShown();
    if (wasWhole && this.wasWhole) return;
    if (!isSameList(listed, this.listed)) this.changes.tell('tools');
  }

  listChanged(kind: ListChange['kind']): void {
    if (this.description.capabilities[kind] !== undefined) this.changes.tell(kind);
  }

  async ready(): Promise<void> {
    const session = await this.deps.forwarder.session(this.server);
    await this.deps.instructions.note(this.server.id, session);
    const { serverInfo, provenance } = session;
    const capabilities = this.isWhole
      ? session.capabilities
      : tellingOfChanges(session.capabilities);
    this.serverInfo = serverInfo;
    this.description = {
      capabilities: this.deps.keptResults.capabilities(capabilities, this.shown.offer),
      meta: this.deps.loops.introduction(provenance.via),
    };
  }

  /** Instructions as they were approved, which may change while the session to the server lasts. */
  describe(): ServerDescription {
    const { shown, deps } = this;
    const instructions = shownInstructions(this.server.id, shown, deps.instructions);
    return { ...this.description, ...(instructions !== undefined && { instructions }) };
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
      case 'tools/list':
        return this.listApproved('tools', params, call);
      case 'prompts/list':
        return this.listApproved('prompts', params, call);
      default:
        return this.request(method, params, call);
    }
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.deps.forwarder.inputSchemaOf(this.shown.catalogue, tool, this.server.id);
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    this.refuseUnoffered(uri);
    const session = await this.deps.forwarder.subscribable(this.server);
    const { id } = this.server;
    return this.deps.subscriptions.subscribe(id, uri, session, () => {
      if (this.isShown && this.offersUri(uri)) onUpdated();
    });
  }

  forget(client: McpClient): void {
    this.deps.logs.forget(client);
  }

  offerRoots(client: RootsClient): RootsOffer {
    return this.deps.roots.offer(client, [this.server.id]);
  }

  watch(listener: (change: ServerChange) => void): () => void {
    if (this.changes.isUnheard) this.noteShown();
    const stops = [
      this.changes.watch(listener),
      this.deps.notifications.watch((serverId, change) => {
        if (serverId === this.server.id && this.isShown) listener(change);
      }),
    ];
    return () => {
      for (const stop of stops) stop();
    };
  }

  private noteShown(): void {
    this.listed = this.offeredTools;
    this.wasWhole = this.isWhole;
  }

  private get offeredTools(): readonly CatalogueTool[] {
    return this.shown.catalogue.toolsByServer.get(this.server.id) ?? [];
  }

  /** Clients may have sessions here from before the view left the server out. */
  private get isShown(): boolean {
    return this.shown.catalogue.servers.has(this.server.id);
  }

  /** A result that is not kept here may be kept by the server, if that is an aggregator too. */
  private async readResource(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { uri } = params;
    const { keptResults, forwarder } = this.deps;
    if (keptResults.isOne(uri)) {
      const kept = await keptResults.find(uri, call.client.caller.subject);
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

  /** Whether requests are passed on unseen: also those for what the server does not list. */
  private get isWhole(): boolean {
    const { id } = this.server;
    const { offer, catalogue } = this.shown;
    const { trust, credentials } = catalogue.servers.get(id) ?? this.server;
    const isAllOffered =
      // What a server lists for one person was not seen by discovery.
      credentials === 'shared' &&
      (trust ?? this.deps.env.MCP_AGGREGATOR_TRUST) === 'auto' &&
      !catalogue.withheld.toolsByServer.has(id) &&
      this.deps.offerings.withheldPromptsOf(id).size === 0;
    return isAllOffered && offer.isWholeServer(id);
  }

  private async call(params: JsonObject, call: ClientCall): Promise<RpcResult> {
    const { forwarder } = this.deps;
    try {
      return await forwarder.call(this.shown.catalogue, params, call, {
        serverId: this.server.id,
        budgetTokens: this.shown.budgetTokens,
      });
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

  /** Tools or prompts, as the server lists them unless that waits for approval. */
  private async listApproved(
    kind: 'tools' | 'prompts',
    params: JsonObject,
    call: ClientCall,
  ): Promise<RpcResult> {
    const result = await this.deps.forwarder.request(this.server, `${kind}/list`, params, call);
    const listed = itemsOf(result, kind);
    const approved = await this.deps.liveLists.shown(
      this.server.id,
      kind,
      listed,
      () => this.isWhole,
    );
    const shown = this.isWhole ? approved : approved.flatMap(this.partOf(kind));
    const isSame = shown.length === listed.length && shown.every((item, i) => item === listed[i]);
    return isSame ? result : withItems(result, kind, shown);
  }

  private partOf(kind: 'tools' | 'prompts'): (item: JsonValue) => JsonObject[] {
    const offered =
      kind === 'tools'
        ? this.listing()
        : (item: JsonObject) => (this.offersPrompt(textIn(item, 'name')) ? item : undefined);
    return (item) => {
      const part = isJsonObject(item) ? offered(item) : undefined;
      return part ? [part] : [];
    };
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
      case 'resources/list':
        return withOffered(await ask(), 'resources', (item) =>
          offer.offers('resource', id, textIn(item, 'uri')) ? item : undefined,
        );
      case 'resources/templates/list':
        return withOffered(await ask(), 'resourceTemplates', (item) =>
          offer.offers('resource', id, textIn(item, 'uriTemplate')) ? item : undefined,
        );
      case 'prompts/get':
        await this.refuseUnofferedPrompt(params);
        return ask();
      case 'completion/complete': {
        const ref = isJsonObject(params['ref']) ? params['ref'] : {};
        if (ref['type'] === 'ref/prompt') await this.refuseUnofferedPrompt(ref);
        else this.refuseUnoffered(textIn(ref, 'uri'));
        return ask();
      }
      default:
        throw new RpcError(rpcCode.methodNotFound, 'Method not found');
    }
  }

  /** Gives the item of the server, or the tool as the view offers it. */
  private listing(): (item: JsonObject) => JsonObject | undefined {
    // Of all tools at once: looking each up in the list would take quadratic time.
    const offered = new Map(this.offeredTools.map((tool) => [tool.originalName, tool]));
    return (item) => {
      const tool = offered.get(textIn(item, 'name'));
      if (!tool?.offeredAs) return tool && item;
      return { ...tool.definition, name: tool.offeredAs.name ?? tool.originalName };
    };
  }

  private offersPrompt(name: string): boolean {
    const { id } = this.server;
    const isListed = this.deps.offerings.promptsOf(id)?.find(name) !== undefined;
    return isListed && this.shown.offer.offers('prompt', id, name);
  }

  /** Of a server that is shown in part, prompts that are unknown, withheld or not offered are answered alike. */
  private async refuseUnofferedPrompt(named: JsonObject): Promise<void> {
    const { id } = this.server;
    if (!this.deps.offerings.promptsOf(id)) await this.deps.offerings.refresh(id, ['prompts']);
    if (this.offersPrompt(textIn(named, 'name'))) return;
    const name = JSON.stringify(named['name']);
    throw new RpcError(rpcCode.invalidParams, `Prompt not found: ${name}`);
  }

  private offersUri(uri: string): boolean {
    return this.isWhole || this.deps.offerings.offersUri(this.server.id, uri, this.shown.offer);
  }

  private refuseUnoffered(uri: string): void {
    if (this.offersUri(uri)) return;
    throw new RpcError(rpcCode.resourceNotFound, `Resource not found: ${uri}`, { uri });
  }
}

/** A part can change without a notice of the server. */
function tellingOfChanges(capabilities: JsonObject): JsonObject {
  const lists = ['tools', 'prompts', 'resources'].flatMap((kind) => {
    const capability = capabilities[kind];
    return isJsonObject(capability) ? [[kind, changed(capability, { listChanged: true })]] : [];
  });
  return changed(capabilities, Object.fromEntries(lists));
}

function textIn(object: JsonObject, key: string): string {
  const text = object[key];
  return typeof text === 'string' ? text : '';
}

function itemsOf(result: RpcResult, key: string): readonly JsonValue[] {
  const items = result instanceof RawJsonObject ? result.get(key) : result[key];
  return Array.isArray(items) ? items : [];
}

function withOffered(
  result: RpcResult,
  key: string,
  offered: (item: JsonObject) => JsonObject | undefined,
): RpcResult {
  const kept = itemsOf(result, key).flatMap((item) =>
    isJsonObject(item) ? (offered(item) ?? []) : [],
  );
  return withItems(result, key, kept);
}

/** A page of a list with other items. */
function withItems(result: RpcResult, key: string, items: readonly JsonValue[]): RpcResult {
  return result instanceof RawJsonObject
    ? result.with({ [key]: [...items] })
    : { ...result, [key]: [...items] };
}
