import type { CancelSignal, JsonObject } from '@app/platform';
import type { LogLevel } from './log-level.js';
import type { RpcResult } from './rpc.js';

/** Sessions after a handshake (up to 2025-11-25), or stateless requests (2026-07-28). */
export type Era = 'legacy' | 'modern';

/** Who stands behind a request, as its token says. */
export interface Caller {
  readonly name: string;
  readonly ip: string | null;
}

/** A client: in the legacy era its session, in the modern era what one request says of it. */
export interface McpClient {
  readonly era: Era;
  readonly caller: Caller;
  readonly capabilities: JsonObject;
  /** The least severe log message it wants, if it wants any. */
  readonly logLevel: LogLevel | undefined;
  /** Reaches it outside its calls, as far as it listens; absent for clients without a session. */
  tell?(method: string, params: JsonObject): void;
}

/** A client that has roots, and can be asked for them outside its calls. */
export interface RootsClient {
  readonly caller: Caller;
  roots(): Promise<JsonObject>;
}

export interface RootsOffer {
  /** They are others now. */
  changed(): void;
  release(): void;
}

/** One request of a client while it is being answered. */
export interface ClientCall {
  readonly client: McpClient;
  /** What a client of the stateless era brings when it comes back with answers; for servers of that era. */
  readonly input: JsonObject;
  /** Aborted when the client cancels, or goes away where that means the same. */
  readonly signal: CancelSignal;
  /** Reaches the client before the answer. */
  notify(method: string, params: JsonObject): void;
  /** Asks the client for something (sampling, elicitation, roots), whatever its era. */
  ask(method: string, params: JsonObject, signal?: CancelSignal): Promise<JsonObject>;
}

export interface ServerDescription {
  readonly capabilities: JsonObject;
  readonly instructions?: string;
}

/** Something that changed, for those who asked to be told. */
export type ServerChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  | { readonly kind: 'resource'; readonly uri: string }
  /** A log message that belongs to no call; for clients that asked for its level. */
  | { readonly kind: 'log'; readonly params: JsonObject };

/** What one endpoint offers; knows methods and results, but no wire, session or era. */
export interface McpView {
  /** Sessions belong to one view; the key tells views apart. */
  readonly key: string;
  /** Waits until `describe` can tell; throws when it never can. */
  ready(): Promise<void>;
  describe(): ServerDescription;
  /** Stands in every result of the modern era, so it has to be at hand. */
  readonly serverInfo: JsonObject;
  /** The result as the client shall see it; throws RpcError or AppError. `params` holds no envelope of a wire. */
  request(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult>;
  /** Of a tool under the name it has here; undefined also when the name is unknown or not unique. */
  inputSchemaOf(tool: string): JsonObject | undefined;
  /** Makes the server tell about changes of a resource (to `watch`) until the returned function is called. */
  subscribe(uri: string): Promise<() => void>;
  /** Lets servers ask for the client's roots until the offer is released. */
  offerRoots?(client: RootsClient): RootsOffer;
  /** Calls back for every change until the returned function is called. */
  watch(listener: (change: ServerChange) => void): () => void;
}

/** How a change is told to whom it concerns. */
export function notificationOf(change: ServerChange): { method: string; params: JsonObject } {
  switch (change.kind) {
    case 'resource':
      return { method: 'notifications/resources/updated', params: { uri: change.uri } };
    case 'log':
      return { method: 'notifications/message', params: change.params };
    default:
      return { method: `notifications/${change.kind}/list_changed`, params: {} };
  }
}
