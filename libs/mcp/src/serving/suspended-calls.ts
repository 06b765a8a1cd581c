import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@app/platform';
import { rpcErrorOf } from './answer.js';
import { requireCapability } from './client-capabilities.js';
import type { HttpExchange } from './http-exchange.js';
import { modernError, modernResult, subjectOf } from './modern-rules.js';
import { isJsonObject } from '../upstream/json-rpc.js';
import { rpcCode, RpcError, type RpcId, type RpcRequest } from './rpc.js';
import type { ClientCall, McpClient, McpView } from './view.js';

/** How long a client may take to answer what it was asked. */
const ANSWER_WITHIN_MS = 600_000;
const MAX_SUSPENDED = 10_000;

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly answer: (result: JsonObject) => void;
  readonly fail: (error: Error) => void;
}

/**
 * Calls of stateless clients that wait for an answer of the client. The client gets `input_required`
 * and a state, and comes back with a new request that carries both; the call goes on where it stood. The
 * state is an unguessable key to this process's memory, used once, bound to the caller, view and subject.
 */
export class SuspendedCalls {
  private readonly calls = new Map<string, { call: StatelessCall; timer: NodeJS.Timeout }>();

  suspend(call: StatelessCall): string {
    const state = randomBytes(32).toString('base64url');
    const timer = setTimeout(() => {
      this.calls.delete(state);
      call.abandon(new Error('the client did not come back with an answer'));
    }, ANSWER_WITHIN_MS);
    timer.unref();
    this.calls.set(state, { call, timer });
    if (this.calls.size > MAX_SUSPENDED) this.dropOldest();
    return state;
  }

  /** Throws for every state that is not this caller's, for this view and subject, and still waiting. */
  resume(state: unknown, request: RpcRequest, client: McpClient, view: McpView): StatelessCall {
    const entry = typeof state === 'string' ? this.calls.get(state) : undefined;
    if (!entry?.call.belongsTo(request, client, view) || typeof state !== 'string') {
      throw new RpcError(rpcCode.invalidParams, 'Invalid or expired requestState', {
        reason: 'invalid_request_state',
      });
    }
    clearTimeout(entry.timer);
    this.calls.delete(state);
    return entry.call;
  }

  closeAll(): void {
    for (const { call, timer } of this.calls.values()) {
      clearTimeout(timer);
      call.abandon(new Error('the service is stopping'));
    }
    this.calls.clear();
  }

  private dropOldest(): void {
    const [state, entry] = this.calls.entries().next().value ?? [];
    if (state === undefined || !entry) return;
    clearTimeout(entry.timer);
    this.calls.delete(state);
    entry.call.abandon(new Error('too many calls wait for their clients'));
  }
}

/** One request of a stateless client, over as many HTTP exchanges as the questions to the client take. */
export class StatelessCall implements ClientCall {
  private readonly controller = new AbortController();
  private readonly questions = new Map<string, Question>();
  private lastQuestion = 0;
  private exchange: HttpExchange | undefined;
  private requestId: RpcId = 0;
  /** Kept when the call ended while the client was still thinking. */
  private outcome: JsonObject | RpcError | undefined;

  constructor(
    private readonly request: RpcRequest,
    readonly client: McpClient,
    private readonly view: McpView,
    private readonly suspended: SuspendedCalls,
  ) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

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

  belongsTo(request: RpcRequest, client: McpClient, view: McpView): boolean {
    return (
      client.caller.name === this.client.caller.name &&
      view.key === this.view.key &&
      request.method === this.request.method &&
      subjectOf(request) === subjectOf(this.request)
    );
  }

  abandon(reason: Error): void {
    this.controller.abort(reason);
    for (const question of this.questions.values()) question.fail(reason);
    this.questions.clear();
  }

  notify(method: string, params: JsonObject): void {
    this.exchange?.send({ jsonrpc: '2.0', method, params });
  }

  async ask(method: string, params: JsonObject): Promise<JsonObject> {
    requireCapability(this.client.capabilities, method);
    this.signal.throwIfAborted();
    return new Promise((answer, fail) => {
      this.questions.set(`q${++this.lastQuestion}`, { method, params, answer, fail });
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
    const requestState = this.suspended.suspend(this);
    exchange.finish({
      jsonrpc: '2.0',
      id: this.requestId,
      result: this.written({ resultType: 'input_required', inputRequests, requestState }),
    });
  }

  private finish(outcome: JsonObject | RpcError): void {
    this.outcome = outcome;
    const exchange = this.detach();
    if (!exchange) return;
    const head = { jsonrpc: '2.0', id: this.requestId } as const;
    exchange.finish(
      outcome instanceof RpcError
        ? { ...head, error: modernError(outcome.body) }
        : { ...head, result: this.written(outcome) },
    );
  }

  private written(result: JsonObject): JsonObject {
    return modernResult(this.request.method, result, this.view.serverInfo);
  }
}
