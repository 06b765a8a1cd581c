import { admits, isLogLevel, RpcError, UpstreamRpcError } from '@app/mcp-protocol';
import { type ClientCall, envelopeFor } from '@app/mcp-server';
import type { ServerRequestHandler } from '@app/mcp-client';
import type { Actor } from '@app/access';
import {
  type CancelSignal,
  changed,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  memberAsWritten,
  type RawJson,
  type Span,
} from '@app/platform';
import type { ForwardContext } from '@app/routing';

/** The channel between a client and a server while a request is in flight. */
export class ClientConversation implements ForwardContext {
  readonly actor: Actor;
  readonly client: object;
  readonly searchId: string | undefined;
  readonly signal: CancelSignal;
  readonly span: Span | undefined;
  readonly onProgress: ((progress: JsonObject) => void) | undefined;

  constructor(
    private readonly call: ClientCall,
    params: JsonObject,
    readonly onServerRequest?: ServerRequestHandler,
    searchId: string | undefined = searchIdOf(params),
  ) {
    this.searchId = searchId;
    this.actor = call.client.caller;
    this.client = call.client;
    this.signal = call.signal;
    this.span = call.span;
    const progressToken = progressTokenOf(params);
    if (progressToken !== undefined) {
      this.onProgress = (progress) =>
        call.notify('notifications/progress', changed(progress, { progressToken }));
    }
  }

  get origin(): ForwardContext['origin'] {
    return { entry: 'mcp', view: this.call.client.caller.view ?? null };
  }

  get stateless(): ForwardContext['stateless'] {
    const { client, input } = this.call;
    return { meta: envelopeFor(client), input, allowInputRequired: client.era === 'modern' };
  }

  readonly onLog = (message: JsonObject): void => {
    if (wantsLog(this.call, message['level'])) this.call.notify('notifications/message', message);
  };
}

/** Forwards a server request to the client; an error of the client reaches the server unchanged. */
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

/**
 * A client session receives all log messages until it sets a level; a stateless client receives none until it
 * does.
 */
export function wantsLog({ client }: ClientCall, level: JsonValue | undefined): boolean {
  if (client.era === 'legacy' && client.logLevel === undefined) return isLogLevel(level);
  return admits(client.logLevel, level);
}

/** Of the search that found the tool, in the `_meta` of a call. */
const SEARCH_ID_META_KEY = 'switchboard/search_id';

function searchIdOf(params: JsonObject): string | undefined {
  const meta = params['_meta'];
  const id = isJsonObject(meta) ? meta[SEARCH_ID_META_KEY] : undefined;
  return typeof id === 'string' ? id : undefined;
}

function progressTokenOf(params: JsonObject): JsonValue | RawJson | undefined {
  const meta = params['_meta'];
  return isJsonObject(meta) ? memberAsWritten(meta, 'progressToken') : undefined;
}
