import type {
  CancelSignal,
  Egress,
  JsonObject,
  SharedBudget,
  RawJsonObject,
  Tenure,
} from '@app/platform';
import type { ProtocolEra, Provenance } from '@app/mcp-protocol';
import type { UpstreamSpan } from './upstream-span.js';
import type { Authorizer } from './wire/authorizer.js';

/** How to reach a server, with all placeholders resolved: contains secrets and is never logged. */
export type UpstreamTarget =
  | {
      readonly kind: 'STDIO';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** Absolute; defaults to the working directory of this service. */
      readonly cwd?: string | undefined;
    }
  | {
      readonly kind: 'SSE' | 'HTTP';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** Headers that are new for every request, over Streamable HTTP. */
      headersOfRequest?(): Readonly<Record<string, string>>;
    };

export interface ConnectOptions {
  /** From the start of the connection to an initialised session. */
  readonly connectTimeoutMs: number;
  /** Maximum size of one message of the server; counted while reading. */
  readonly maxAnswerBytes: number;
  /** Budget for bytes that arrive from all servers at the same time; defaults to a separate one. */
  readonly receiving?: SharedBudget;
  /** Maximum memory of all lists of the server. */
  readonly maxListBytes?: number;
  /** Budget for the lists of all servers; defaults to a separate one. */
  readonly listing?: SharedBudget;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly clientCapabilities: JsonObject;
  /** The id of our deployment, to detect a connection to ourselves; see Provenance. */
  readonly deploymentId?: string;
  /** The era found by an earlier connect; a wrong one is detected and probed again. */
  readonly priorEra?: ProtocolEra;
  readonly allowInsecureHttp: boolean;
  /** Where connections may lead; defaults to the policy of a service without settings. */
  readonly egress?: Egress;
  /** Credentials that change, for servers over HTTP; without it a refusal is final. */
  readonly authorizer?: Authorizer;
  /** Aborts connecting; an open session is closed with `close`. */
  readonly signal?: AbortSignal;
  /** The credentials of the server, masked in everything that it sends. */
  readonly credentials?: readonly string[];
  /** Masked in the log of the process; defaults to the values of its environment. */
  readonly secrets?: readonly string[];
  /** An earlier session asked its callers questions that name no call: one client is served at a time from the start. */
  readonly asksCallers?: boolean;
  /** For a server that may run only while this process leads: session and process end with it. */
  readonly tenure?: Tenure | undefined;
  /** Called with the first such question, unless `asksCallers` says so already. */
  onCallersAsked?(): void;
  /** Called for every line of the log, also while connecting. */
  onLogLine?(line: string): void;
}

/** Answers server requests: sampling, elicitation, roots. Throw an `UpstreamRpcError` to refuse. */
export type ServerRequestHandler = (
  method: string,
  params: JsonObject,
  signal: CancelSignal,
) => Promise<JsonObject>;

/**
 * The roots for a server that requests them outside of any call. `user` is the only principal that has used the
 * session; null when several have, undefined when none has.
 */
export type RootsProvider = (user: string | null | undefined) => Promise<{
  readonly result: JsonObject;
  /** The owner of the roots. */
  readonly principal?: string | undefined;
}>;

/** `user` is set for messages that may concern a user: the only principal that has used the session. */
export type NotificationHandler = (
  method: string,
  params: JsonObject,
  user: string | undefined,
) => void;

/** On whose behalf a request is sent; requests of the service itself have no caller. */
export interface RequestCaller {
  /** The user: a subject, which is never given to another. */
  readonly principal: string;
  /** The client session, or the single request of a caller without one: compared by identity. */
  readonly client: object;
}

export interface RequestOptions {
  readonly caller?: RequestCaller | undefined;
  /** Maximum time without an answer; progress restarts it, but never beyond `maxTotalMs`. */
  readonly timeoutMs: number;
  /** Maximum time even of a call that reports progress; defaults to five times `timeoutMs`. */
  readonly maxTotalMs?: number;
  readonly signal?: CancelSignal | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  /** Receives the log messages of this call; without it they only go to the log of the server. */
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** Answers server requests that belong to this call; without it they are refused. */
  readonly onServerRequest?: ServerRequestHandler | undefined;
  /** Maximum wait for a new session when the server lost the old one; defaults to 5 s (contract R41). */
  readonly renewWithinMs?: number | undefined;
  /** Merged over the `_meta` of the params. */
  readonly meta?: JsonObject | undefined;
  /** Of the called tool: a session that has not listed its tools does not know which arguments go into headers. */
  readonly inputSchema?: JsonObject | undefined;
  /** Hand an `input_required` result of a modern server to the caller instead of answering it. */
  readonly allowInputRequired?: boolean | undefined;
  /** Its trace context is sent with the request. */
  readonly span?: UpstreamSpan | undefined;
}

export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export interface ListLimits {
  /** Reading stops here; to detect that there are more items, ask for one more. */
  readonly maxItems: number;
  readonly maxPages: number;
  /** For all pages together. */
  readonly timeoutMs: number;
  /** Called with the reason when an item was left out. */
  onWithheld?(name: string, why: string): void;
}

export interface CloseOptions {
  /** Skip the wait for the process to exit by itself. */
  readonly force?: boolean;
}

/** One open, initialised session to a server. */
export interface UpstreamSession {
  readonly era: ProtocolEra;
  readonly protocolVersion: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string | undefined;
  readonly provenance: Provenance;
  /** Where the server is; undefined for a process. */
  readonly address?: URL | undefined;
  /** Requests of users in flight, without those of the service itself. */
  readonly pending: number;
  /** Resolves when it is known whether the server is still there, after a connection to it broke. */
  readonly verified: Promise<void>;
  /** Resolves with the parsed result; rejects with one of the errors of `upstream.errors.ts`. */
  request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<JsonObject>;
  /** The same with the result in the bytes of the server, for forwarding. */
  requestBytes(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<RawJsonObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** The only principal that has used it; null when several have, undefined when none has. */
  readonly user: string | null | undefined;
  /** Returns a function that removes the handler. */
  onNotification(handler: NotificationHandler): () => void;
  setRootsProvider(provider: RootsProvider): void;
  /** Called when the server lost the session and gave a new one: its subscriptions and lists may be gone. */
  onRenewal(handler: () => void): void;
  listAll(kind: ListKind, limits: ListLimits): Promise<JsonObject[]>;
  /** The last lines of the process's stderr, and its stdout lines that were no messages; empty for URLs. */
  logs(): readonly string[];
  close(options?: CloseOptions): Promise<void>;
  /** Resolves once when the session has ended, for any reason. */
  readonly closed: Promise<SessionEnd>;
}

export interface SessionEnd {
  readonly reason: string;
  /**
   * `refused`: the server does not accept our credentials, so a retry soon is pointless. `moved`: another replica runs
   * the server, which is no news about the server.
   */
  readonly cause: 'asked' | 'lost' | 'refused' | 'moved';
}
