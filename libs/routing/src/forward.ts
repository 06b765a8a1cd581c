import { type ServerRequestHandler, type UpstreamSession, UpstreamSpan } from '@app/mcp-client';
import { type Actor, personOf } from '@app/access';
import type { CallOrigin } from '@app/activity';
import {
  type CancelSignal,
  changed,
  type JsonObject,
  type RawJsonObject,
  type Span,
} from '@app/platform';

/** The channel between a client and a server while a request is in flight. */
export interface ForwardContext {
  /** The user; what a server says is told to the same subject alone. */
  readonly actor: Actor;
  /** The client session of the request; undefined for a request without one. */
  readonly client?: object | undefined;
  /** The search that found the tool, as the caller says. */
  readonly searchId?: string | undefined;
  /** For those who listen to calls. */
  readonly origin?: CallOrigin | undefined;
  /** Aborted when the client cancels the request or disconnects. */
  readonly signal: CancelSignal;
  /** The span of the request; undefined when nothing is traced. */
  readonly span?: Span | undefined;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  readonly onLog?: ((message: JsonObject) => void) | undefined;
  /** Handles requests of the server to the client; without a handler they are refused. */
  readonly onServerRequest?: ServerRequestHandler | undefined;
  /** For stateless servers only. */
  readonly stateless?:
    | {
        /** The client metadata that is sent to the server. */
        readonly meta: JsonObject;
        /** The input of a client that repeats its request with the required answers. */
        readonly input: JsonObject;
        /** The client itself can handle `input_required` results. */
        readonly allowInputRequired: boolean;
      }
    | undefined;
}

/** Sends a client's request to a server, translating between eras. */
export function requestOnBehalf(
  session: UpstreamSession,
  method: string,
  params: JsonObject,
  conversation: ForwardContext,
  timeoutMs: number,
  renewWithinMs?: number,
  inputSchema?: JsonObject,
  /** Its name, for traces. */
  server?: string,
): Promise<RawJsonObject> {
  const { signal, onProgress, onLog, onServerRequest, span: parent } = conversation;
  const terms = session.era === 'modern' ? conversation.stateless : undefined;
  const principal = personOf(conversation.actor).subject;
  const span = parent && new UpstreamSpan(parent, session, method, params, server);
  const answer = session.requestBytes(method, terms ? changed(params, terms.input) : params, {
    caller: { principal, client: conversation.client ?? conversation },
    timeoutMs,
    renewWithinMs,
    inputSchema,
    signal,
    onProgress,
    onLog,
    onServerRequest,
    meta: terms?.meta,
    allowInputRequired: terms?.allowInputRequired,
    span,
  });
  return span ? span.during(answer) : answer;
}
