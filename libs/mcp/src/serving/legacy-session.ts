import { randomUUID } from 'node:crypto';
import {
  Cancellation,
  type CancelSignal,
  Crowd,
  isJsonObject,
  type JsonObject,
  WrittenObject,
} from '@app/platform';
import { rpcErrorOf } from './answer.js';
import { requireCapability } from './client-capabilities.js';
import { admits, isLogLevel, type LogLevel } from './log-level.js';
import type { HttpExchange } from './http-exchange.js';
import {
  type ReceivedResponse,
  rpcCode,
  RpcError,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
  type RpcResult,
} from './rpc.js';
import type { SseStream } from './sse-stream.js';
import { type KeptEvents, readEventId, StreamLog } from './stream-log.js';
import {
  type Caller,
  type ClientCall,
  type McpClient,
  type McpView,
  notificationOf,
  type RootsOffer,
  type ServerChange,
} from './view.js';

/** For questions outside a call: no person is asked, so programs answer. */
const ANSWER_WITHIN_MS = 10_000;

interface Question {
  readonly answer: (result: JsonObject) => void;
  readonly fail: (error: Error) => void;
}

/** One client after its handshake: what it is running, what it was asked, where it can be reached. */
export class LegacySession implements McpClient {
  readonly id = randomUUID();
  readonly era = 'legacy';
  logLevel: LogLevel | undefined;
  private readonly running = new Crowd<RunningCall>();
  private readonly questions = new Map<RpcId, Question>();
  private lastQuestion = 0;
  /** Held open by the client with GET, for what belongs to no request; the newest is used. */
  private readonly standing = new Set<SseStream>();
  /** What went there, also while nobody listened. */
  private standingLog: StreamLog | undefined;
  /** By name; those of which something can still be asked for. */
  private readonly streams = new Map<number, StreamLog>();
  private lastStream = 0;
  private readonly subscriptions = new Map<string, () => void>();
  private readonly stopWatching: () => void;
  private roots: RootsOffer | undefined;

  constructor(
    readonly view: McpView,
    readonly caller: Caller,
    readonly capabilities: JsonObject,
    private readonly kept: KeptEvents,
  ) {
    this.stopWatching = view.watch((change) => this.tellOf(change));
  }

  get isIdle(): boolean {
    return this.running.size === 0 && this.standing.size === 0;
  }

  /** Undefined for a request that its client cancelled: it gets no answer. */
  async answer(request: RpcRequest, exchange: HttpExchange): Promise<RpcResponse | undefined> {
    const call = new RunningCall(request.id, this, exchange);
    this.running.add(call);
    const { id, method, params = {} } = request;
    try {
      const result = await this.handle(method, params, call);
      return call.signal.aborted ? undefined : { jsonrpc: '2.0', id, result: legacyResult(result) };
    } catch (error) {
      if (call.signal.aborted) return undefined;
      return { jsonrpc: '2.0', id, error: rpcErrorOf(error).body };
    } finally {
      this.running.remove(call);
      // What it asked and nobody answered, nobody needs any more.
      if (this.questions.size > 0) call.abort(new Error('the call has ended'));
    }
  }

  cancel(id: RpcId): void {
    for (const call of this.running)
      if (call.id === id) call.abort(new Error('cancelled by the client'));
  }

  /** The client's answer to a question of ours. */
  settle(response: ReceivedResponse): void {
    const question = response.id === null ? undefined : this.questions.get(response.id);
    if ('result' in response) question?.answer(response.result);
    else
      question?.fail(
        new RpcError(response.error.code, response.error.message, response.error.data),
      );
  }

  /** Keeps what a stream carries, for a client that loses it. */
  record(stream: SseStream): StreamLog {
    const name = ++this.lastStream;
    const log = new StreamLog(name, this.kept, stream, () => this.streams.delete(name));
    this.streams.set(name, log);
    return log;
  }

  /** Goes on with the stream that the event was on. False when what came after is not known any more. */
  resume(eventId: string, stream: SseStream): boolean {
    const seen = readEventId(eventId);
    const log = seen && this.streams.get(seen.name);
    if (!log || !log.reaches(seen.number)) return false;
    log.continueOn(stream, seen.number);
    return log !== this.standingLog;
  }

  /** Until the returned function is called. */
  stand(stream: SseStream): () => void {
    this.standing.add(stream);
    this.standingLog ??= this.record(stream);
    this.standingLog.continueOn(stream);
    if (this.standing.size === 1) this.announceRoots();
    return () => {
      this.standing.delete(stream);
      this.standingLog?.continueOn(this.listening);
    };
  }

  /** Told when the client can be asked for them, and whenever it says that they are others. */
  announceRoots(): void {
    if (this.roots) return this.roots.changed();
    if (!isJsonObject(this.capabilities['roots']) || this.standing.size === 0) return;
    this.roots = this.view.offerRoots?.({
      caller: this.caller,
      roots: () => this.askStanding('roots/list', {}),
    });
  }

  tell(method: string, params: JsonObject): void {
    this.sendStanding({ jsonrpc: '2.0', method, params });
  }

  close(): void {
    this.stopWatching();
    this.roots?.release();
    for (const release of this.subscriptions.values()) release();
    const gone = new Error('the session has ended');
    for (const call of this.running) call.abort(gone);
    for (const question of this.questions.values()) question.fail(gone);
    for (const stream of this.standing) stream.end();
  }

  private async handle(method: string, params: JsonObject, call: ClientCall): Promise<RpcResult> {
    switch (method) {
      case 'ping':
        return {};
      case 'resources/subscribe': {
        const uri = uriOf(params);
        if (!this.subscriptions.has(uri)) {
          this.subscriptions.set(uri, await this.view.subscribe(uri));
        }
        return {};
      }
      case 'resources/unsubscribe': {
        const uri = uriOf(params);
        this.subscriptions.get(uri)?.();
        this.subscriptions.delete(uri);
        return {};
      }
      case 'logging/setLevel': {
        const { level } = params;
        if (!isLogLevel(level)) throw new RpcError(rpcCode.invalidParams, 'unknown log level');
        this.logLevel = level;
        return this.view.request(method, params, call);
      }
      default:
        return this.view.request(method, params, call);
    }
  }

  /** Asks the client while one of its calls runs, until that call or the question itself is called off. */
  ask(
    method: string,
    params: JsonObject,
    signals: readonly CancelSignal[],
    send: (message: RpcRequest | RpcNotification) => void,
  ): Promise<JsonObject> {
    requireCapability(this.capabilities, method, params);
    for (const signal of signals) signal.throwIfAborted();
    const id = ++this.lastQuestion;
    return new Promise<JsonObject>((answer, fail) => {
      const stop = (): void => {
        send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        end();
        fail(new Error('the question was taken back'));
      };
      const end = (): void => {
        for (const signal of signals) signal.removeEventListener('abort', stop);
        this.questions.delete(id);
      };
      for (const signal of signals) signal.addEventListener('abort', stop, { once: true });
      this.questions.set(id, {
        answer: (result) => {
          end();
          answer(result);
        },
        fail: (error) => {
          end();
          fail(error);
        },
      });
      send({ jsonrpc: '2.0', id, method, params });
    });
  }

  /** Outside a call; somebody has to be there to hear it, and to answer in time. */
  private askStanding(method: string, params: JsonObject): Promise<JsonObject> {
    if (!this.listening) return Promise.reject(new Error('the client does not listen'));
    const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return this.ask(method, params, [late], (message) => this.sendStanding(message));
  }

  private tellOf(change: ServerChange): void {
    if (change.kind === 'resource' && !this.subscriptions.has(change.uri)) return;
    if (change.kind === 'log' && !admits(this.logLevel, change.params['level'])) return;
    this.sendStanding({ jsonrpc: '2.0', ...notificationOf(change) });
  }

  private sendStanding(message: RpcRequest | RpcNotification): void {
    this.standingLog?.send(message);
  }

  private get listening(): SseStream | undefined {
    return [...this.standing].findLast((stream) => stream.isOpen);
  }
}

/** A request of the client while it is being answered. */
class RunningCall implements ClientCall {
  readonly input = NO_INPUT;
  readonly signal = new Cancellation();

  constructor(
    readonly id: RpcId,
    readonly client: LegacySession,
    private readonly exchange: HttpExchange,
  ) {}

  abort(reason: Error): void {
    this.signal.abort(reason);
  }

  notify(method: string, params: JsonObject): void {
    this.exchange.send({ jsonrpc: '2.0', method, params });
  }

  ask(method: string, params: JsonObject, signal?: CancelSignal): Promise<JsonObject> {
    const signals = signal ? [this.signal, signal] : [this.signal];
    return this.client.ask(method, params, signals, (message) => this.exchange.send(message));
  }
}
const NO_INPUT: JsonObject = {};

/** `resultType` is a word of the revision after. */
function legacyResult(result: RpcResult): RpcResult {
  if (result instanceof WrittenObject) return result.without('resultType');
  const { resultType: _modern, ...rest } = result;
  return rest;
}

function uriOf(params: JsonObject): string {
  const uri = params['uri'];
  if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'uri must be a string');
  return uri;
}
