import { rpcCode, RpcError, type RpcResult } from '@app/mcp-protocol';
import type { JsonObject } from '@app/platform';
import type {
  ClientCall,
  McpClient,
  McpSurface,
  RootsClient,
  RootsOffer,
  ServerChange,
  ServerDescription,
} from './surface.js';

type Handle = (method: string, params: JsonObject, call: ClientCall) => Promise<RpcResult>;

/** A view in memory: the test determines its answers, and sees what it was asked. */
export class FakeView implements McpSurface {
  serverInfo: JsonObject = { name: 'fake', version: '1' };
  description: ServerDescription = {
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
    },
  };
  isReady: Promise<void> = Promise.resolve();
  isVerbatim?: true;
  readonly calls: { method: string; params: JsonObject; call: ClientCall }[] = [];
  readonly forgotten: McpClient[] = [];
  readonly roots: RootsClient[] = [];
  /** What became of the roots that were offered. */
  readonly rootsNews: string[] = [];
  /** Subscriptions that were asked for and not released. */
  readonly subscribed: string[] = [];
  /** Blocks subscriptions until it resolves. */
  granting: Promise<void> = Promise.resolve();
  handling: Handle = async () => ({ content: [] });
  readonly schemas: Record<string, JsonObject> = {};
  private readonly watchers = new Map<() => void, string>();
  private readonly listeners = new Set<(change: ServerChange) => void>();

  constructor(readonly key = 'fake') {}

  get listening(): number {
    return this.listeners.size;
  }

  ready(): Promise<void> {
    return this.isReady;
  }

  describe(): ServerDescription {
    return this.description;
  }

  handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    this.calls.push({ method, params, call });
    return this.handling(method, params, call);
  }

  inputSchemaOf(tool: string): JsonObject | undefined {
    return this.schemas[tool];
  }

  async subscribe(uri: string, onUpdated: () => void): Promise<() => void> {
    this.subscribed.push(uri);
    await this.granting;
    if (uri.startsWith('no:')) {
      this.subscribed.splice(this.subscribed.indexOf(uri), 1);
      throw new RpcError(rpcCode.resourceNotFound, 'no such resource');
    }
    this.watchers.set(onUpdated, uri);
    return () => {
      this.subscribed.splice(this.subscribed.indexOf(uri), 1);
      this.watchers.delete(onUpdated);
    };
  }

  updated(changed: string): void {
    for (const [tell, uri] of this.watchers) if (uri === changed) tell();
  }

  offerRoots(client: RootsClient): RootsOffer {
    this.roots.push(client);
    this.rootsNews.push('offered');
    return {
      changed: () => this.rootsNews.push('changed'),
      release: () => this.rootsNews.push('released'),
    };
  }

  watch(listener: (change: ServerChange) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  change(change: ServerChange): void {
    for (const listener of this.listeners) listener(change);
  }

  forget(client: McpClient): void {
    this.forgotten.push(client);
  }
}
