import { changed, isJsonObject, type JsonObject, Shares } from '@app/platform';
import {
  idJson,
  rpcCode,
  RpcError,
  type RpcRequest,
  SUBSCRIPTION_ID_META_KEY,
} from '@app/mcp-protocol';
import { clientKey } from '../clients/stateless-clients.js';
import type { ClientResponse } from '../endpoint/client-response.js';
import { accepts, type Filter, honoured, urisOf, written } from './listen-filter.js';
import { modernResult } from './modern-result.js';
import type { EndpointDependencies } from '../endpoint-dependencies.js';
import { MAX_SUBSCRIPTIONS, Subscriptions, TooManySubscriptions } from '../stream/subscriptions.js';
import {
  type Caller,
  type McpClient,
  type McpSurface,
  notificationOf,
  resourceUpdated,
  type ServerChange,
} from '../surface.js';

/** Limit for all clients; when it is reached, each principal keeps its share. */
const MAX_STREAMS = 10_000;
/** Subscriptions of one request that are opened concurrently. */
const ASKED_AT_ONCE = 8;

/** `subscriptions/listen`: streams of change notifications for stateless clients. */
export class ListenStreams {
  private readonly streams = new Set<ListenStream>();
  private readonly owners = new Shares();

  constructor(
    private readonly deps: EndpointDependencies,
    private readonly max = MAX_STREAMS,
  ) {}

  get size(): number {
    return this.streams.size;
  }

  async open(
    request: RpcRequest,
    view: McpSurface,
    response: ClientResponse,
    client: McpClient,
  ): Promise<void> {
    const { caller } = client;
    const owner = caller.name;
    if (!this.owners.hasRoom(owner, this.max)) {
      this.deps.limits?.note('listen_streams', owner);
      throw new RpcError(
        rpcCode.internalError,
        `All ${this.max} subscription streams of this service are in use; end others or try again later`,
        { error_code: 'LIMIT_REACHED' },
      );
    }
    const stream = new ListenStream(request, view, response, client, this.deps);
    this.owners.add(owner);
    this.streams.add(stream);
    // The client may disconnect while servers are still being asked.
    const leave = (): void => {
      stream.release();
      if (this.streams.delete(stream)) this.owners.remove(owner);
    };
    response.onClientGone(leave);
    try {
      await stream.begin();
    } catch (error) {
      leave();
      throw error;
    }
  }

  endWhere(isUnwanted: (caller: Caller) => boolean): void {
    for (const stream of [...this.streams]) {
      if (!isUnwanted(stream.caller)) continue;
      stream.end();
      if (this.streams.delete(stream)) this.owners.remove(stream.caller.name);
    }
  }

  /** Of each open stream. */
  get clients(): readonly McpClient[] {
    return [...this.streams].map(({ client }) => client);
  }

  endClient(key: string): void {
    const ended = [...this.streams].filter(({ client }) => clientKey(client) === key);
    const callers = new Set(ended.map(({ caller }) => caller));
    this.endWhere((caller) => callers.has(caller));
  }

  endAll(): void {
    for (const stream of this.streams) stream.end();
    this.streams.clear();
  }
}

class ListenStream {
  private readonly subscriptions: Subscriptions;
  private readonly meta: JsonObject;
  private filter: Filter = {};
  private leaveAudience: (() => void) | undefined;
  private isAcknowledged = false;
  /** Updates that came before the acknowledgement was sent. */
  private readonly early = new Set<string>();
  private isReleased = false;
  readonly caller: Caller;

  constructor(
    private readonly request: RpcRequest,
    private readonly view: McpSurface,
    private readonly response: ClientResponse,
    readonly client: McpClient,
    private readonly deps: EndpointDependencies,
  ) {
    const { caller } = client;
    this.caller = caller;
    this.subscriptions = new Subscriptions(view, caller.name, deps.subscriptions, (uri) =>
      this.updated(uri),
    );
    this.meta = changed({}, { [SUBSCRIPTION_ID_META_KEY]: idJson(request.id) });
  }

  async begin(): Promise<void> {
    await this.view.ready();
    const { capabilities } = this.view.describe();
    const wanted = this.request.params?.['notifications'];
    if (!isJsonObject(wanted)) {
      throw new RpcError(rpcCode.invalidParams, 'notifications must be an object');
    }
    await this.subscribeTo(urisOf(wanted, capabilities));
    if (this.isReleased) return;
    this.filter = honoured(wanted, capabilities, this.subscriptions.uris);
    this.send('notifications/subscriptions/acknowledged', { notifications: written(this.filter) });
    this.isAcknowledged = true;
    for (const uri of this.early) this.updated(uri);
    this.early.clear();
    this.leaveAudience = this.deps.audiences.join(this.view, this);
  }

  hears(change: ServerChange): boolean {
    return accepts(this.filter, change);
  }

  receive(change: ServerChange): void {
    const { method, params } = notificationOf(change);
    this.send(method, params);
  }

  release(): void {
    this.isReleased = true;
    this.leaveAudience?.();
    this.subscriptions.close();
  }

  end(): void {
    this.release();
    this.response.finish({
      jsonrpc: '2.0',
      id: this.request.id,
      result: modernResult(this.request.method, { _meta: this.meta }, this.view.serverInfo),
    });
  }

  /** Leaves out of the acknowledgement a resource that cannot be subscribed to; the others are kept. */
  private async subscribeTo(uris: ReadonlySet<string>): Promise<void> {
    if (uris.size > MAX_SUBSCRIPTIONS) {
      throw new TooManySubscriptions(
        `resourceSubscriptions has ${uris.size} URIs; at most ${MAX_SUBSCRIPTIONS} are allowed`,
      );
    }
    const left = uris.values();
    const askInTurn = async (): Promise<void> => {
      for (const uri of left) {
        if (this.isReleased) return;
        try {
          await this.subscriptions.add(uri);
        } catch (error) {
          if (error instanceof TooManySubscriptions) throw error;
        }
      }
    };
    await Promise.all(Array.from({ length: ASKED_AT_ONCE }, askInTurn));
  }

  private updated(uri: string): void {
    if (!this.isAcknowledged) return void this.early.add(uri);
    const { method, params } = resourceUpdated(uri);
    this.send(method, params);
  }

  private send(method: string, params: JsonObject): void {
    this.response.send({ jsonrpc: '2.0', method, params: changed(params, { _meta: this.meta }) });
  }
}
