import {
  Cancellation,
  type CancelSignal,
  isJsonObject,
  type JsonObject,
  WrittenObject,
} from '@app/platform';
import { rpcErrorOf } from './answer.js';
import { requireCapability } from './client-capabilities.js';
import type { HttpExchange } from './http-exchange.js';
import { modernError, modernResult } from './modern-rules.js';
import { RpcError, type RpcId, type RpcRequest, type RpcResult } from './rpc.js';
import type { ClientCall, McpClient, McpView } from './view.js';

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly answer: (result: JsonObject) => void;
  readonly fail: (error: Error) => void;
}

/** One request of a stateless client, over as many HTTP exchanges as the questions to the client take. */
export class StatelessCall implements ClientCall {
  readonly signal = new Cancellation();
  private readonly questions = new Map<string, Question>();
  private lastQuestion = 0;
  private exchange: HttpExchange | undefined;
  private requestId: RpcId = 0;
  /** Kept when the call ended while the client was still thinking. */
  private outcome: RpcResult | RpcError | undefined;

  constructor(
    private readonly request: RpcRequest,
    readonly client: McpClient,
    readonly input: JsonObject,
    private readonly view: McpView,
    private readonly world: {
      /** Keeps the call while its client thinks; returns what the client has to come back with. */
      suspend(call: StatelessCall): string;
      /** The state of a server as its client may see it. */
      hide(state: string): string;
    },
  ) {}

  start(exchange: HttpExchange, params: JsonObject): void {
    this.attach(exchange, this.request.id);
    this.view.request(this.request.method, params, this).then(
      (result) => this.finish(result),
      (error: unknown) => {
        // Of a call that nobody waits for any more, nobody wants to know how it failed.
        if (!this.signal.aborted) this.finish(rpcErrorOf(error));
      },
    );
  }

  goOn(exchange: HttpExchange, id: RpcId, answers: JsonObject): void {
    this.attach(exchange, id);
    if (this.outcome) return this.finish(this.outcome);
    for (const [key, question] of this.questions) {
      const answer = answers[key];
      if (!isJsonObject(answer)) continue;
      this.questions.delete(key);
      question.answer(answer);
    }
    if (this.questions.size > 0) this.suspend();
  }

  abandon(reason: Error): void {
    this.signal.abort(reason);
    this.failQuestions(reason);
  }

  notify(method: string, params: JsonObject): void {
    this.exchange?.send({ jsonrpc: '2.0', method, params });
  }

  async ask(method: string, params: JsonObject, signal?: CancelSignal): Promise<JsonObject> {
    requireCapability(this.client.capabilities, method, params);
    this.signal.throwIfAborted();
    signal?.throwIfAborted();
    const key = `q${++this.lastQuestion}`;
    return new Promise((answer, fail) => {
      this.questions.set(key, { method, params, answer, fail });
      signal?.addEventListener(
        'abort',
        () => {
          this.questions.delete(key);
          fail(new Error('the question was taken back'));
        },
        { once: true },
      );
      // Questions that come together go out together.
      setImmediate(() => this.suspend());
    });
  }

  private attach(exchange: HttpExchange, id: RpcId): void {
    this.exchange = exchange;
    this.requestId = id;
    exchange.onClientGone(() => {
      if (this.exchange === exchange) this.abandon(new Error('the client went away'));
    });
  }

  private detach(): HttpExchange | undefined {
    const exchange = this.exchange;
    this.exchange = undefined;
    return exchange;
  }

  private suspend(): void {
    if (this.questions.size === 0) return;
    const exchange = this.detach();
    if (!exchange) return;
    const inputRequests: JsonObject = {};
    for (const [key, { method, params }] of this.questions) inputRequests[key] = { method, params };
    const requestState = this.world.suspend(this);
    exchange.finish({
      jsonrpc: '2.0',
      id: this.requestId,
      result: this.written({ resultType: 'input_required', inputRequests, requestState }),
    });
  }

  private finish(outcome: RpcResult | RpcError): void {
    this.outcome = outcome;
    if (this.questions.size > 0) this.failQuestions(new Error('the call has ended'));
    const exchange = this.detach();
    if (!exchange) return;
    const head = { jsonrpc: '2.0', id: this.requestId } as const;
    exchange.finish(
      outcome instanceof RpcError
        ? { ...head, error: modernError(outcome.body) }
        : { ...head, result: this.written(this.withHiddenState(outcome)) },
    );
  }

  private failQuestions(reason: Error): void {
    for (const question of this.questions.values()) question.fail(reason);
    this.questions.clear();
  }

  private withHiddenState(result: RpcResult): RpcResult {
    const written = result instanceof WrittenObject;
    const requestState = written ? result.get('requestState') : result['requestState'];
    if (typeof requestState !== 'string') return result;
    const hidden = { requestState: this.world.hide(requestState) };
    return written ? result.with(hidden) : { ...result, ...hidden };
  }

  private written(result: RpcResult): RpcResult {
    return modernResult(this.request.method, result, this.view.serverInfo);
  }
}
