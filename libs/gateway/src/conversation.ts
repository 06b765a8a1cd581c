import {
  admits,
  type ClientCall,
  envelopeFor,
  isLogLevel,
  RpcError,
  type ServerRequestHandler,
  UpstreamRpcError,
} from '@app/mcp';
import type { Actor } from '@app/access';
import { type CancelSignal, isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import type { Conversation } from '@app/routing';

/** What goes back and forth between a client and a server while a request is being answered. */
export class ClientConversation implements Conversation {
  readonly actor: Actor;
  readonly signal: CancelSignal;
  readonly onProgress: ((progress: JsonObject) => void) | undefined;

  constructor(
    private readonly call: ClientCall,
    params: JsonObject,
    readonly onServerRequest?: ServerRequestHandler,
  ) {
    this.actor = call.client.caller;
    this.signal = call.signal;
    const progressToken = progressTokenOf(params);
    if (progressToken !== undefined) {
      this.onProgress = (progress) =>
        call.notify('notifications/progress', { ...progress, progressToken });
    }
  }

  get stateless(): Conversation['stateless'] {
    const { client, input } = this.call;
    return { meta: envelopeFor(client), input, allowInputRequired: client.era === 'modern' };
  }

  readonly onLog = (message: JsonObject): void => {
    if (wantsLog(this.call, message['level'])) this.call.notify('notifications/message', message);
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
