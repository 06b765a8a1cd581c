import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  rpcCode,
  ToolHeaders,
  UpstreamRpcError,
} from '@app/mcp-protocol';
import {
  changed,
  isJsonObject,
  JsonFault,
  type JsonObject,
  type JsonValue,
  parseKept,
  RawJsonObject,
} from '@app/platform';
import { answerInput } from './input-required.js';
import { ModernSubscription, type OpenStream } from './modern-subscription.js';
import type { Negotiated } from '../connect/negotiation.js';
import { PROGRESS_STRETCHES } from '../session/calls/pending-calls.js';
import type { ConnectOptions, RequestOptions, ServerRequestHandler } from '../upstream.js';
import { RequestTimedOut, UpstreamProtocolError } from '../upstream.errors.js';

const MAX_INPUT_ROUNDS = 10;

type SendRequest = (
  method: string,
  params: JsonObject | undefined,
  options: RequestOptions,
) => Promise<RawJsonObject>;

/** Hides the differences of servers from 2026-07-28 on from the callers of a session. */
export class ModernEra {
  /** Calls that wait for input requested by the server. */
  waiting = 0;
  private readonly subscription: ModernSubscription;
  private readonly toolHeaders = new ToolHeaders();
  private logLevel: JsonValue | undefined;

  constructor(
    private agreed: Negotiated,
    private readonly client: Pick<ConnectOptions, 'clientInfo' | 'clientCapabilities'>,
    private readonly sendRequest: SendRequest,
    openStream: OpenStream,
  ) {
    this.subscription = new ModernSubscription(() => this.agreed.capabilities, openStream);
  }

  /** The server was restarted and is still of this era. */
  renew(agreed: Negotiated): void {
    this.agreed = agreed;
  }

  start(): void {
    this.subscription.start();
  }

  stop(): void {
    this.subscription.stop();
  }

  /** The `_meta` that every request carries about its client. */
  envelope(): JsonObject {
    return {
      [PROTOCOL_VERSION_META_KEY]: this.agreed.protocolVersion,
      [CLIENT_INFO_META_KEY]: { ...this.client.clientInfo },
      [CLIENT_CAPABILITIES_META_KEY]: this.client.clientCapabilities,
      ...(this.logLevel !== undefined && { [LOG_LEVEL_META_KEY]: this.logLevel }),
    };
  }

  /** The arguments that the schema of the called tool requires as HTTP headers too. */
  headersFor(
    method: string,
    params: JsonObject | undefined,
    inputSchema?: JsonObject,
  ): Record<string, string> {
    return method === 'tools/call'
      ? this.toolHeaders.of(params?.['name'], params?.['arguments'], inputSchema)
      : {};
  }

  noteTools(listed: JsonValue | undefined): void {
    this.toolHeaders.note(listed);
  }

  /** Sends a request: renamed methods are translated, input requests go to `handler`. */
  async request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
    handler: ServerRequestHandler | undefined,
  ): Promise<RawJsonObject> {
    switch (method) {
      case 'ping':
        return this.sendRequest('server/discover', undefined, options);
      case 'logging/setLevel':
        this.logLevel = params?.['level'];
        return RawJsonObject.of({});
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        this.watch(params?.['uri'], method === 'resources/subscribe');
        return RawJsonObject.of({});
      default:
        return options.allowInputRequired
          ? this.sendRequest(method, params, options)
          : this.requestInRounds(method, params, options, handler);
    }
  }

  private watch(uri: JsonValue | undefined, watched: boolean): void {
    if (typeof uri !== 'string') {
      throw new UpstreamRpcError({ code: rpcCode.invalidParams, message: 'uri must be a string' });
    }
    this.subscription.setResource(uri, watched);
  }

  private async requestInRounds(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
    handler: ServerRequestHandler | undefined,
  ): Promise<RawJsonObject> {
    const { timeoutMs, maxTotalMs = timeoutMs * PROGRESS_STRETCHES } = options;
    const endsAt = performance.now() + maxTotalMs;
    let answers: JsonObject = {};
    for (let round = 0; round < MAX_INPUT_ROUNDS; round++) {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) throw new RequestTimedOut(method, maxTotalMs);
      const result = await this.sendRequest(
        method,
        round === 0 ? params : changed(params ?? {}, answers),
        {
          ...options,
          timeoutMs: Math.min(timeoutMs, leftMs),
          maxTotalMs: leftMs,
        },
      );
      if (result.get('resultType') !== 'input_required') return result;
      answers = await this.answered(questionsIn(result), handler, {
        signal: options.signal,
        withinMs: Math.max(0, endsAt - performance.now()),
        late: new RequestTimedOut(method, maxTotalMs),
      });
    }
    throw new UpstreamProtocolError('it asks for more input again and again');
  }

  /** Counts the call as waiting for input while the handler answers, within its time limit. */
  private async answered(...question: Parameters<typeof answerInput>): Promise<JsonObject> {
    this.waiting++;
    try {
      return await answerInput(...question);
    } finally {
      this.waiting--;
    }
  }
}

/** Parsed down to the params of each request, which the client gets in the server's bytes. */
function questionsIn(result: RawJsonObject): JsonObject {
  const asked = parseKept(result.bytes, 3);
  return asked instanceof JsonFault || !isJsonObject(asked) ? {} : asked;
}
