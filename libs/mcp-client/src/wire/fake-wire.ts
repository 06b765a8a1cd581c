import type { ProtocolEra, RpcId, RpcMessage, RpcRequest } from '@app/mcp-protocol';
import { isJsonObject, type JsonObject, ReadingShare } from '@app/platform';
import type { CloseOptions } from '../upstream.js';
import type { Wire, WireListener } from './wire.js';

interface Sent {
  readonly message: RpcMessage;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly principal: string | undefined;
}

/** A wire to a server in memory, which opens sessions by itself; the test decides about everything else. */
export class FakeWire implements Wire {
  epoch = 0;
  readonly reading = new NotedReading();
  sent: Sent[] = [];
  readonly abandoned: RpcId[] = [];
  readonly closes: CloseOptions[] = [];
  timesForgotten = 0;
  isListening = false;
  protocolVersion: string | undefined;
  hasSentAll = true;
  /** Leaves requests for a session to the test. */
  isSilent = false;
  /** What opens a session. */
  opening: JsonObject = {
    capabilities: { tools: {} },
    serverInfo: { name: 'fake', version: '1' },
  };
  /** Answers a request by its result, or refuses to take the message; undefined leaves it open. */
  serve: (message: RpcMessage) => JsonObject | Error | undefined = () => undefined;
  private readonly exchanges = new Map<RpcId, { end(): void; fail(error: Error): void }>();
  private heldListener: WireListener | undefined;

  constructor(
    readonly kind: Wire['kind'],
    public era: ProtocolEra = 'legacy',
  ) {}

  get listener(): WireListener {
    if (!this.heldListener) throw new Error('The wire is not open');
    return this.heldListener;
  }

  /** The requests with this method. */
  asked(method: string): RpcRequest[] {
    return this.sent.flatMap(({ message }) =>
      'method' in message && 'id' in message && message.method === method ? [message] : [],
    );
  }

  /** The params of the notifications with this method. */
  told(method: string): (JsonObject | undefined)[] {
    return this.sent.flatMap(({ message }) =>
      'method' in message && !('id' in message) && message.method === method
        ? [message.params]
        : [],
    );
  }

  open(listener: WireListener): Promise<void> {
    this.heldListener = listener;
    return Promise.resolve();
  }

  send(
    message: RpcMessage,
    headers?: Readonly<Record<string, string>>,
    principal?: string,
  ): Promise<void> {
    this.sent.push({ message, headers, principal });
    const served = this.serve(message);
    if (served instanceof Error) return Promise.reject(served);
    if (!('method' in message) || !('id' in message)) return Promise.resolve();
    const { id } = message;
    const answer = served ? { result: served } : this.openingFor(message);
    if (answer) queueMicrotask(() => this.deliver({ jsonrpc: '2.0', id, ...answer }, id));
    if (this.kind !== 'http') return Promise.resolve();
    return new Promise((end, fail) => this.exchanges.set(id, { end, fail }));
  }

  /** The answer to a request, which ends its exchange. */
  answer(id: RpcId, result: JsonObject): void {
    this.deliver({ jsonrpc: '2.0', id, result }, id);
  }

  /** A message in the exchange of this request if it has one. */
  say(message: unknown, during?: RpcId): boolean {
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return this.listener.onFrame(Buffer.from(text), this.kind === 'http' ? during : undefined);
  }

  endExchange(id: RpcId): void {
    this.exchanges.get(id)?.end();
  }

  breakExchange(id: RpcId, error: Error): void {
    this.exchanges.get(id)?.fail(error);
  }

  mayHaveSent(): boolean {
    return this.hasSentAll;
  }

  abandon(id: RpcId): void {
    this.abandoned.push(id);
  }

  setProtocolVersion(version: string): void {
    this.protocolVersion = version;
  }

  forget(): void {
    this.timesForgotten++;
    this.epoch++;
  }

  listen(): void {
    this.isListening = true;
  }

  stopListening(): void {
    this.isListening = false;
  }

  logs(): readonly string[] {
    return ['a line of its log'];
  }

  close(options: CloseOptions): Promise<void> {
    this.closes.push(options);
    return Promise.resolve();
  }

  private deliver(message: { readonly id: RpcId; [key: string]: unknown }, during: RpcId): void {
    this.say(message, during);
    this.endExchange(during);
  }

  private openingFor({ method, params }: RpcRequest): JsonObject | undefined {
    if (this.isSilent) return undefined;
    const isModern = this.era === 'modern';
    if (method === 'initialize' && !isModern) {
      const version = isJsonObject(params) ? params['protocolVersion'] : undefined;
      return { result: { protocolVersion: version ?? '2025-11-25', ...this.opening } };
    }
    if (method !== 'server/discover' && method !== 'initialize') return undefined;
    if (!isModern || method === 'initialize') {
      return { error: { code: -32_601, message: 'Method not found' } };
    }
    const { serverInfo = {}, _meta, ...rest } = this.opening;
    const meta = {
      'io.modelcontextprotocol/serverInfo': serverInfo,
      ...(isJsonObject(_meta) && _meta),
    };
    return {
      result: {
        resultType: 'complete',
        supportedVersions: ['2026-07-28'],
        ...rest,
        _meta: meta,
      },
    };
  }
}

/** What the session reported about the pieces that were read. */
class NotedReading extends ReadingShare {
  notes: string[] = [];

  override noteMessage(): void {
    this.notes.push('message');
  }
  override noteAnswer(): void {
    this.notes.push('answer');
  }
  override noteBatch(): void {
    this.notes.push('batch');
  }
}
