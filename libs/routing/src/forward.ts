import type { ServerRequestHandler, UpstreamSession } from '@app/mcp';
import type { CancelSignal, JsonObject, WrittenObject } from '@app/platform';

/** How a server and whoever called it reach each other while a request is answered. */
export interface Conversation {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: CancelSignal;
  readonly onProgress?: ((progress: JsonObject) => void) | undefined;
  readonly onLog?: ((message: JsonObject) => void) | undefined;
  /** Answers what the server asks; without it every question is refused. */
  readonly onServerRequest?: ServerRequestHandler | undefined;
  /** For servers of the stateless era only. */
  readonly stateless?:
    | {
        /** What the server is told of the client it works for. */
        readonly meta: JsonObject;
        /** What the client brings when it comes back with answers. */
        readonly input: JsonObject;
        /** The client answers `input_required` results itself. */
        readonly allowInputRequired: boolean;
      }
    | undefined;
}

/** Sends a request as it came from a client of either era to a server of either era. */
export function forward(
  session: UpstreamSession,
  method: string,
  params: JsonObject,
  conversation: Conversation,
  timeoutMs: number,
): Promise<WrittenObject> {
  const { signal, onProgress, onLog, onServerRequest } = conversation;
  const terms = session.era === 'modern' ? conversation.stateless : undefined;
  return session.relay(method, terms ? { ...params, ...terms.input } : params, {
    timeoutMs,
    signal,
    onProgress,
    onLog,
    onServerRequest,
    meta: terms?.meta,
    allowInputRequired: terms?.allowInputRequired,
  });
}
