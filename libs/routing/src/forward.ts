import type { ServerRequestHandler, UpstreamSession } from '@app/mcp';
import type { JsonObject } from '@app/platform';

/** How a server and whoever called it reach each other while a request is answered. */
export interface Conversation {
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: JsonObject) => void;
  readonly onLog?: (message: JsonObject) => void;
  /** Answers what the server asks; without it every question is refused. */
  readonly onServerRequest?: ServerRequestHandler;
  /** For servers of the stateless era only. */
  readonly stateless?: {
    /** What the server is told of the client it works for. */
    readonly meta: JsonObject;
    /** What the client brings when it comes back with answers. */
    readonly input: JsonObject;
    /** The client answers `input_required` results itself. */
    readonly allowInputRequired: boolean;
  };
}

/** Sends a request as it came from a client of either era to a server of either era. */
export function forward(
  session: UpstreamSession,
  method: string,
  params: JsonObject,
  { signal, onProgress, onLog, onServerRequest, stateless }: Conversation,
  timeoutMs: number,
): Promise<JsonObject> {
  const terms = session.era === 'modern' ? stateless : undefined;
  return session.request(
    method,
    { ...params, ...terms?.input },
    {
      timeoutMs,
      signal,
      ...(onProgress && { onProgress }),
      ...(onLog && { onLog }),
      ...(onServerRequest && { onServerRequest }),
      ...(terms && { meta: terms.meta, allowInputRequired: terms.allowInputRequired }),
    },
  );
}
