import { randomUUID } from 'node:crypto';
import { isJsonObject, type JsonObject } from '@app/platform';
import { rpcErrorOf } from './answer.js';
import { requireCapability } from './client-capabilities.js';
import { admits, isLogLevel, type LogLevel } from './log-level.js';
import type { HttpExchange } from './http-exchange.js';
import {
  rpcCode,
  RpcError,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from './rpc.js';
import type { SseStream } from './sse-stream.js';
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
  private readonly running = new Map<RpcId, AbortController>();
  private readonly questions = new Map<RpcId, Question>();
  private lastQuestion = 0;
  /** Held open by the client with GET, for what belongs to no request; the newest is used. */
  private readonly standing = new Set<SseStream>();
  private readonly subscriptions = new Map<string, () => void>();
  private readonly stopWatching: () => void;
  private roots: RootsOffer | undefined;

  constructor(
    readonly view: McpView,
    readonly caller: Caller,
    readonly capabilities: JsonObject,
  ) {
    this.stopWatching = view.watch((change) => this.tellOf(change));
  }

  get isIdle(): boolean {
    return this.running.size === 0 && this.standing.size === 0;
  }

  /** Undefined for a request that its client cancelled: it gets no answer. */
  async answer(request: RpcRequest, exchange: HttpExchange): Promise<RpcResponse | undefined> {
    const controller = new AbortController();
    this.running.set(request.id, controller);
    const call: ClientCall = {
      client: this,
      input: {},
      signal: controller.signal,
      notify: (method, params) => exchange.send({ jsonrpc: '2.0', method, params }),
      ask: (method, params, signal) =>
        this.ask(method, params, either(controller.signal, signal), (message) =>
          exchange.send(message),
        ),
    };
    const head = { jsonrpc: '2.0', id: request.id } as const;
    try {
      const { resultType: _modern, ...result } = await this.handle(
        request.method,
        request.params ?? {},
        call,
      );
      return controller.signal.aborted ? undefined : { ...head, result };
    } catch (error) {
      return controller.signal.aborted ? undefined : { ...head, error: rpcErrorOf(error).body };
    } finally {
      if (this.running.get(request.id) === controller) this.running.delete(request.id);
      // What it asked and nobody answered, nobody needs any more.
      if (this.questions.size > 0) controller.abort(new Error('the call has ended'));
    }
  }

  cancel(id: RpcId): void {
    this.running.get(id)?.abort(new Error('cancelled by the client'));
  }

  /** The client's answer to a question of ours. */
  settle(response: RpcResponse): void {
    const question = response.id === null ? undefined : this.questions.get(response.id);
    if ('result' in response) question?.answer(response.result);
    else
      question?.fail(
        new RpcError(response.error.code, response.error.message, response.error.data),
      );
  }

  stand(stream: SseStream): () => void {
    this.standing.add(stream);
    if (this.standing.size === 1) this.announceRoots();
    return () => this.standing.delete(stream);
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
    for (const controller of this.running.values()) controller.abort(gone);
    for (const question of this.questions.values()) question.fail(gone);
    for (const stream of this.standing) stream.end();
  }

  private async handle(method: string, params: JsonObject, call: ClientCall): Promise<JsonObject> {
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

  private ask(
    method: string,
    params: JsonObject,
    signal: AbortSignal,
    send: (message: RpcRequest | RpcNotification) => void,
  ): Promise<JsonObject> {
    requireCapability(this.capabilities, method, params);
    signal.throwIfAborted();
    const id = ++this.lastQuestion;
    return new Promise<JsonObject>((answer, fail) => {
      const stop = (): void => {
        send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        fail(new Error('the question was taken back'));
      };
      signal.addEventListener('abort', stop, { once: true });
      this.questions.set(id, {
        answer: (result) => {
          signal.removeEventListener('abort', stop);
          answer(result);
        },
        fail: (error) => {
          signal.removeEventListener('abort', stop);
          fail(error);
        },
      });
      send({ jsonrpc: '2.0', id, method, params });
    }).finally(() => this.questions.delete(id));
  }

  /** Outside a call; somebody has to be there to hear it, and to answer in time. */
  private askStanding(method: string, params: JsonObject): Promise<JsonObject> {
    const stream = this.listening;
    if (!stream) return Promise.reject(new Error('the client does not listen'));
    const late = AbortSignal.timeout(ANSWER_WITHIN_MS);
    return this.ask(method, params, late, (message) => stream.send(message));
  }

  private tellOf(change: ServerChange): void {
    if (change.kind === 'resource' && !this.subscriptions.has(change.uri)) return;
    if (change.kind === 'log' && !admits(this.logLevel, change.params['level'])) return;
    this.sendStanding({ jsonrpc: '2.0', ...notificationOf(change) });
  }

  private sendStanding(message: RpcNotification): void {
    this.listening?.send(message);
  }

  private get listening(): SseStream | undefined {
    return [...this.standing].findLast((stream) => stream.isOpen);
  }
}

function either(call: AbortSignal, question: AbortSignal | undefined): AbortSignal {
  return question ? AbortSignal.any([call, question]) : call;
}

function uriOf(params: JsonObject): string {
  const uri = params['uri'];
  if (typeof uri !== 'string') throw new RpcError(rpcCode.invalidParams, 'uri must be a string');
  return uri;
}
