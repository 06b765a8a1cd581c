import type { CancelSignal, JsonObject, Span } from '@app/platform';
import type { LogLevel, RpcResult } from '@app/mcp-protocol';
import type { ClientInfo } from './clients/connected-client.js';

/** Sessions after a handshake (up to 2025-11-25), or stateless requests (2026-07-28). */
export type Era = 'legacy' | 'modern';

/** The authenticated sender of a request. */
export interface Caller {
  /** For people to read, and for limits; another person may get the same one later. */
  readonly name: string;
  readonly ip: string | null;
  /** The person, to whom sessions, results and messages belong: a subject is never given to another. */
  readonly subject: string;
  /** Of a request of another replica: the person with whose session it is carried out. */
  readonly onBehalfOf?: Caller;
  /** The path of the endpoint; undefined for a request of another replica. */
  readonly endpoint?: string;
  /** The slug of the view that it uses. */
  readonly view?: string;
  /** Whether it may still use the surface that it opened a session or stream at; undefined for always. */
  readonly isAdmitted?: () => boolean;
  /** Whether it may call nothing at its endpoint; undefined for a request of another replica. */
  readonly mayOnlyRead?: () => boolean;
  /** Whether its token has expired; streams end then. */
  readonly isExpired?: () => boolean;
  /** Of an OAuth client, whose sessions no other client of the same person may use. */
  readonly client?: string;
  /** Adds the reason to the error about a tool that is not there; undefined for a caller that may not know it. */
  readonly explainAbsence?: (error: unknown, tool: string) => unknown;
}

/** A client: in the legacy era its session, in the modern era the envelope of one request. */
export interface McpClient {
  readonly era: Era;
  readonly caller: Caller;
  readonly capabilities: JsonObject;
  /** How it names itself; undefined if it does not. */
  readonly info?: ClientInfo | undefined;
  /** The protocol revision; undefined for the newest. */
  readonly version?: string | undefined;
  /** The minimum severity of log messages for the client; undefined for none. */
  readonly logLevel: LogLevel | undefined;
  /** Sends a notification outside of calls, if the client listens; absent for clients without a session. */
  tell?(method: string, params: JsonObject): void;
}

/** A client with roots that can be requested outside its calls. */
export interface RootsClient {
  readonly caller: Caller;
  roots(): Promise<JsonObject>;
}

export interface RootsOffer {
  /** The roots of the client have changed. */
  changed(): void;
  release(): void;
}

/** One request of a client in flight. */
export interface ClientCall {
  readonly client: McpClient;
  /** Input that a client of the stateless era sends with a repeated request; for servers of that era. */
  readonly input: JsonObject;
  /** Aborted when the client cancels, or disconnects where that means the same. */
  readonly signal: CancelSignal;
  /** Undefined when nothing is traced. */
  readonly span: Span | undefined;
  /** Sends a notification to the client before the answer. */
  notify(method: string, params: JsonObject): void;
  /** Sends a server request (sampling, elicitation, roots) to the client, of either era. */
  ask(method: string, params: JsonObject, signal?: CancelSignal): Promise<JsonObject>;
}

export interface ServerDescription {
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  /** The `_meta` of the answer to a handshake. */
  readonly meta?: JsonObject;
}

/** A change, for clients that subscribed to it. */
export type ServerChange =
  | { readonly kind: 'tools' | 'prompts' | 'resources' }
  /** A log message that belongs to no call; for clients of that subject with a matching log level. */
  | { readonly kind: 'log'; readonly params: JsonObject; readonly user: string };

/** What one endpoint offers: methods and results, independent of wire, session and era. */
export interface McpSurface {
  /** Sessions belong to one view; the key distinguishes views. */
  readonly key: string;
  /** Resolves when `describe` can be called; rejects when it never can. */
  ready(): Promise<void>;
  describe(): ServerDescription;
  /** Part of every result of the modern era, so it has to be available synchronously. */
  readonly serverInfo: JsonObject;
  /** Resolves with the result for the client; rejects with RpcError or AppError. `params` holds no envelope of a wire. */
  handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult>;
  /** Takes the name that a tool has in this view; undefined also when the name is unknown or not unique. */
  inputSchemaOf(tool: string): JsonObject | undefined;
  /** Subscribes to changes of a resource at its server; the returned function unsubscribes. */
  subscribe(uri: string, onUpdated: () => void): Promise<() => void>;
  /** Offers the client's roots to servers until the offer is released. */
  offerRoots?(client: RootsClient): RootsOffer;
  /** Results and errors go to the client as they are, without the fields that the modern era adds. */
  readonly isVerbatim?: true;
  /** Calls `listener` for every change; the returned function removes it. */
  watch(listener: (change: ServerChange) => void): () => void;
  /**
   * Drops what the view holds for a client, such as its log level. Called once when a session of the legacy
   * era ends (DELETE, eviction, expiry, shutdown), after its calls were aborted; no request of it follows.
   */
  forget?(client: McpClient): void;
}

export function resourceUpdated(uri: string): { method: string; params: JsonObject } {
  return { method: 'notifications/resources/updated', params: { uri } };
}

/** The notification of a change. */
export function notificationOf(change: ServerChange): { method: string; params: JsonObject } {
  switch (change.kind) {
    case 'log':
      return { method: 'notifications/message', params: change.params };
    default:
      return { method: `notifications/${change.kind}/list_changed`, params: {} };
  }
}
