import {
  admits,
  type ClientCall,
  envelopeFor,
  isLogLevel,
  RpcError,
  type ServerRequestHandler,
  UpstreamRpcError,
} from '@app/mcp';
import { isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import type { Conversation } from '@app/routing';

/** What goes back and forth between a client and a server while a request is being answered. */
export function conversationOf(
  call: ClientCall,
  params: JsonObject,
  onServerRequest: ServerRequestHandler = (...question) => askClient(call, ...question),
): Conversation {
  const token = progressTokenOf(params);
  return {
    signal: call.signal,
    stateless: {
      meta: envelopeFor(call.client),
      input: call.input,
      allowInputRequired: call.client.era === 'modern',
    },
    ...(token !== undefined && {
      onProgress: (progress) =>
        call.notify('notifications/progress', { ...progress, progressToken: token }),
    }),
    onLog: (message) => {
      if (wantsLog(call, message['level'])) call.notify('notifications/message', message);
    },
    onServerRequest,
  };
}

/** A client's refusal reaches the server in the client's words. */
export async function askClient(
  call: ClientCall,
  ...question: Parameters<ServerRequestHandler>
): Promise<JsonObject> {
  try {
    return await call.ask(...question);
  } catch (error) {
    throw error instanceof RpcError ? new UpstreamRpcError(error.body) : error;
  }
}

/** Sessions get every message until they choose a level; stateless clients get none unless they do. */
export function wantsLog({ client }: ClientCall, level: JsonValue | undefined): boolean {
  if (client.era === 'legacy' && client.logLevel === undefined) return isLogLevel(level);
  return admits(client.logLevel, level);
}

function progressTokenOf(params: JsonObject): JsonValue | undefined {
  const meta = params['_meta'];
  return isJsonObject(meta) ? meta['progressToken'] : undefined;
}
