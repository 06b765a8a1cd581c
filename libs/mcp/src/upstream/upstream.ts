import type { CancelSignal, JsonObject, WrittenObject } from '@app/platform';
import type { Authorizer } from './oauth/authorizer.js';

/** How a server is reached, with every placeholder resolved: it holds secrets and is never logged. */
export type UpstreamTarget =
  | {
      readonly kind: 'STDIO';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | {
      readonly kind: 'SSE' | 'HTTP';
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
    };

/** `legacy`: handshake, up to 2025-11-25. `modern`: stateless, from 2026-07-28 on. */
export type ProtocolEra = 'legacy' | 'modern';

export interface ConnectOptions {
  /** From the first byte to an initialised session. */
  readonly connectTimeoutMs: number;
  /** The most that one message of the server may have; counted while reading. */
  readonly maxAnswerBytes: number;
  readonly clientInfo: { readonly name: string; readonly version: string };
  readonly clientCapabilities: JsonObject;
  /** The verdict of an earlier connect; a wrong one is noticed and probed again. */
  readonly priorEra?: ProtocolEra;
  readonly allowInsecureHttp: boolean;
  /** Credentials that come and go, for servers over HTTP; without it a refusal is final. */
  readonly authorizer?: Authorizer;
  /** Gives up connecting; an open session is closed with `close`. */
  readonly signal?: AbortSignal;
  /** Taken out of what the process writes to its log; the values of its environment unless told. */
  readonly secrets?: readonly string[];
  /** Every line of the log as it is written, also while connecting. */
  onLogLine?(line: string): void;
}

/** Answers what a server asks of its client: sampling, elicitation, roots. Throw an `UpstreamRpcError` to refuse. */
export type ServerRequestHandler = (
  method: string,
  params: JsonObject,
  signal: CancelSignal,
) => Promise<JsonObject>;

export type NotificationHandler = (method: string, params: JsonObject) => void;

export interface RequestOptions {
  /** How long without an answer; progress starts it anew, but never beyond `maxTotalMs`. */
  readonly timeoutMs: number;
  /** The end even of a call that reports progress; five times `timeoutMs` unless told. */
  readonly maxTotalMs?: number;
  readonly signal?: CancelSignal | undefined;
  readonly onProgress?: ((params: JsonObject) => void) | undefined;
  /** Log messages that come with this very call; without it they are notifications of the session. */
  readonly onLog?: ((params: JsonObject) => void) | undefined;
  /** What the server asks while it works on this very call; else the handler of the session is asked. */
  readonly onServerRequest?: ServerRequestHandler | undefined;
  /** Merged over the `_meta` of the params. */
  readonly meta?: JsonObject | undefined;
  /** Hand an `input_required` result of a modern server to the caller instead of answering it. */
  readonly allowInputRequired?: boolean | undefined;
}

export type ListKind = 'tools' | 'prompts' | 'resources' | 'resourceTemplates';

export interface ListLimits {
  /** Reading stops here; who wants to know whether there was more asks for one more. */
  readonly maxItems: number;
  readonly maxPages: number;
  /** For all pages together. */
  readonly timeoutMs: number;
}

export interface CloseOptions {
  /** Do not let the process end by itself first. */
  readonly force?: boolean;
}

/** One open, initialised session to a server. */
export interface UpstreamSession {
  readonly era: ProtocolEra;
  readonly protocolVersion: string;
  readonly serverInfo: JsonObject;
  readonly capabilities: JsonObject;
  readonly instructions?: string | undefined;
  /** Calls in flight. */
  readonly pending: number;
  /** The result as the server sent it; rejects with one of the errors of `upstream.errors.ts`. */
  request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<JsonObject>;
  /** The same with the result unread, for those who only pass it on. */
  relay(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
  ): Promise<WrittenObject>;
  notify(method: string, params?: JsonObject): Promise<void>;
  /** Returns the function that takes the handler away again. */
  onNotification(handler: NotificationHandler): () => void;
  setRequestHandler(handler: ServerRequestHandler): void;
  /** The server had forgotten the session and gave a new one: what it knew of us, and its lists, may be gone. */
  onRenewal(handler: () => void): void;
  listAll(kind: ListKind, limits: ListLimits): Promise<JsonObject[]>;
  /** The last lines of the process's stderr, and what it wrote to stdout that was no message; empty for URLs. */
  logs(): readonly string[];
  close(options?: CloseOptions): Promise<void>;
  /** Resolves once, however the session ended. */
  readonly closed: Promise<SessionEnd>;
}

export interface SessionEnd {
  readonly reason: string;
  /** `refused`: the server does not accept our credentials, so trying again soon is pointless. */
  readonly cause: 'asked' | 'lost' | 'refused';
}
