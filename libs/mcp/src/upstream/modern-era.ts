import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  LOG_LEVEL_META_KEY,
  PROTOCOL_VERSION_META_KEY,
} from '../protocol.js';
import { isJsonObject, type JsonObject, type JsonValue, WrittenObject } from '@app/platform';
import { answerInput } from './input-required.js';
import { ModernSubscription, type OpenStream } from './modern-subscription.js';
import type { Negotiated } from './negotiation.js';
import { type ParamHeader, paramHeaders, paramHeadersOf } from './param-headers.js';
import { PROGRESS_STRETCHES } from './pending-calls.js';
import type { ConnectOptions, RequestOptions, ServerRequestHandler } from './upstream.js';
import { RequestTimedOut, UpstreamProtocolError, UpstreamRpcError } from './upstream.errors.js';

const MAX_INPUT_ROUNDS = 10;

type Exchange = (
  method: string,
  params: JsonObject | undefined,
  options: RequestOptions,
) => Promise<WrittenObject>;

/** What is different about servers from 2026-07-28 on, so that those who call need not know. */
export class ModernEra {
  /** Calls that wait for an answer to a question of the server. */
  waiting = 0;
  private readonly subscription: ModernSubscription;
  private readonly toolHeaders = new Map<JsonValue, readonly ParamHeader[]>();
  private logLevel: JsonValue | undefined;

  constructor(
    private readonly agreed: Negotiated,
    private readonly client: Pick<ConnectOptions, 'clientInfo' | 'clientCapabilities'>,
    private readonly exchange: Exchange,
    openStream: OpenStream,
  ) {
    this.subscription = new ModernSubscription(agreed.capabilities, openStream);
  }

  start(): void {
    this.subscription.start();
  }

  stop(): void {
    this.subscription.stop();
  }

  /** What every request says about its client. */
  envelope(): JsonObject {
    return {
      [PROTOCOL_VERSION_META_KEY]: this.agreed.protocolVersion,
      [CLIENT_INFO_META_KEY]: { ...this.client.clientInfo },
      [CLIENT_CAPABILITIES_META_KEY]: this.client.clientCapabilities,
      ...(this.logLevel !== undefined && { [LOG_LEVEL_META_KEY]: this.logLevel }),
    };
  }

  /** The arguments that the called tool wants as HTTP headers too. */
  headersFor(method: string, params: JsonObject | undefined): Record<string, string> {
    const tool = params?.['name'];
    if (method !== 'tools/call' || tool === undefined) return {};
    return paramHeaders(this.toolHeaders.get(tool) ?? [], params?.['arguments']);
  }

  noteTools(listed: JsonValue | undefined): void {
    for (const tool of Array.isArray(listed) ? listed : []) {
      if (!isJsonObject(tool) || tool['name'] === undefined) continue;
      this.toolHeaders.set(tool['name'], paramHeadersOf(tool['inputSchema']));
    }
  }

  /** What these servers have under another name is translated, and what they ask put to `handler`. */
  async request(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
    handler: ServerRequestHandler | undefined,
  ): Promise<WrittenObject> {
    switch (method) {
      case 'ping':
        return this.exchange('server/discover', undefined, options);
      case 'logging/setLevel':
        this.logLevel = params?.['level'];
        return WrittenObject.of({});
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        this.watch(params?.['uri'], method === 'resources/subscribe');
        return WrittenObject.of({});
      default:
        return options.allowInputRequired
          ? this.exchange(method, params, options)
          : this.requestInRounds(method, params, options, handler);
    }
  }

  private watch(uri: JsonValue | undefined, watched: boolean): void {
    if (typeof uri !== 'string') {
      throw new UpstreamRpcError({ code: -32_602, message: 'uri must be a string' });
    }
    this.subscription.setResource(uri, watched);
  }

  private async requestInRounds(
    method: string,
    params: JsonObject | undefined,
    options: RequestOptions,
    handler: ServerRequestHandler | undefined,
  ): Promise<WrittenObject> {
    const { timeoutMs, maxTotalMs = timeoutMs * PROGRESS_STRETCHES } = options;
    const endsAt = performance.now() + maxTotalMs;
    let answers: JsonObject = {};
    for (let round = 0; round < MAX_INPUT_ROUNDS; round++) {
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) throw new RequestTimedOut(method, maxTotalMs);
      const result = await this.exchange(method, round === 0 ? params : { ...params, ...answers }, {
        ...options,
        timeoutMs: Math.min(timeoutMs, leftMs),
        maxTotalMs: leftMs,
      });
      if (result.get('resultType') !== 'input_required') return result;
      answers = await this.answered(result.toObject() ?? {}, handler, {
        signal: options.signal,
        withinMs: Math.max(0, endsAt - performance.now()),
        late: new RequestTimedOut(method, maxTotalMs),
      });
    }
    throw new UpstreamProtocolError('it asks for more input again and again');
  }

  /** People may take their time, but not for ever. */
  private async answered(...question: Parameters<typeof answerInput>): Promise<JsonObject> {
    this.waiting++;
    try {
      return await answerInput(...question);
    } finally {
      this.waiting--;
    }
  }
}
