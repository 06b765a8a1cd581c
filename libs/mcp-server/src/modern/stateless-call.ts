import {
  Cancellation,
  type CancelSignal,
  type Tracing,
  type UnhashedSet,
  isJsonObject,
  type JsonObject,
  RawJsonObject,
} from '@app/platform';
import { RpcError, type RpcId, type RpcRequest, type RpcResult } from '@app/mcp-protocol';
import { beginRequest, failedIn, type RequestSpan } from '../endpoint/request-span.js';
import { requireCapability } from '../endpoint/client-capabilities.js';
import type { ClientResponse } from '../endpoint/client-response.js';
import { type EndReason, interruption } from '../endpoint/interruption.js';
import { modernError, modernResult } from './modern-result.js';
import type { ClientCall, McpClient, McpSurface } from '../surface.js';

interface Question {
  readonly method: string;
  readonly params: JsonObject;
  readonly answer: (result: JsonObject) => void;
  readonly fail: (error: Error) => void;
}

/** One request of a stateless client, over as many HTTP exchanges as its input requests take. */
export class StatelessCall implements ClientCall {
  readonly signal = new Cancellation();
  span: RequestSpan | undefined;
  private readonly questions = new Map<string, Question>();
  private lastQuestion = 0;
  private response: ClientResponse | undefined;
  private requestId: RpcId = 0;
  /** Kept when the call ended while the client was preparing its input. */
  private outcome: RpcResult | RpcError | undefined;

  constructor(
    private readonly request: RpcRequest,
    readonly client: McpClient,
    readonly input: JsonObject,
    private readonly view: McpSurface,
    private readonly deps: {
      /** Keeps the call until its client returns with input; returns the key to return with. */
      suspend(call: StatelessCall): string;
      /** Seals the state of a server for the client. */
      hide(state: string): string;
      /** Calls with an open HTTP exchange. */
      readonly answering: UnhashedSet<StatelessCall>;
      readonly tracing: Tracing | undefined;
    },
  ) {}

  start(response: ClientResponse, params: JsonObject): void {
    this.attach(response, this.request.id);
    const { tracing } = this.deps;
    const span =
      tracing && beginRequest(tracing, this.request, this.client, response.requestHeaders);
    this.span = span;
    this.view.handle(this.request.method, params, this).then(
      (result) => {
        span?.succeed(result, this.signal);
        this.finish(result);
      },
      (error: unknown) => {
        // Ignore errors of an aborted call.
        if (this.signal.aborted) return span?.cancel();
        return this.finish(failedIn(span, error, this.view));
      },
    );
  }

  goOn(response: ClientResponse, id: RpcId, answers: JsonObject): void {
    this.attach(response, id);
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

  /** Ends it with an error at once, before the view reacts to the abort. */
  interrupt(reason: EndReason): void {
    const error = interruption(reason, this.request.method);
    this.abandon(error);
    this.finish(error);
  }

  notify(method: string, params: JsonObject): void {
    this.response?.send({ jsonrpc: '2.0', method, params });
  }

  async ask(method: string, params: JsonObject, signal?: CancelSignal): Promise<JsonObject> {
    requireCapability(this.client.capabilities, method, params);
    this.signal.throwIfAborted();
    signal?.throwIfAborted();
    const key = `q${++this.lastQuestion}`;
    return new Promise((answer, fail) => {
      this.questions.set(key, { method, params, answer, fail });
      signal?.addEventListener('abort', () => {
        this.questions.delete(key);
        fail(new Error('the question was taken back'));
      });
      // Send input requests of the same turn of the event loop together.
      setImmediate(() => this.suspend());
    });
  }

  private attach(response: ClientResponse, id: RpcId): void {
    this.response = response;
    this.requestId = id;
    this.deps.answering.add(this);
    response.onClientGone(() => {
      if (this.response !== response) return;
      this.detach();
      this.abandon(new Error('the client went away'));
    });
  }

  private detach(): ClientResponse | undefined {
    const response = this.response;
    this.response = undefined;
    if (response) this.deps.answering.remove(this);
    return response;
  }

  private suspend(): void {
    if (this.questions.size === 0) return;
    const response = this.detach();
    if (!response) return;
    const inputRequests: JsonObject = {};
    for (const [key, { method, params }] of this.questions) inputRequests[key] = { method, params };
    const requestState = this.deps.suspend(this);
    response.finish({
      jsonrpc: '2.0',
      id: this.requestId,
      result: this.written({ resultType: 'input_required', inputRequests, requestState }),
    });
  }

  private finish(outcome: RpcResult | RpcError): void {
    this.outcome = outcome;
    if (this.questions.size > 0) this.failQuestions(new Error('the call has ended'));
    const response = this.detach();
    if (!response) return;
    const head = { jsonrpc: '2.0', id: this.requestId } as const;
    response.finish(
      outcome instanceof RpcError
        ? { ...head, error: this.view.isVerbatim ? outcome.body : modernError(outcome.body) }
        : { ...head, result: this.written(this.withHiddenState(outcome)) },
    );
  }

  private failQuestions(reason: Error): void {
    for (const question of this.questions.values()) question.fail(reason);
    this.questions.clear();
  }

  private withHiddenState(result: RpcResult): RpcResult {
    const written = result instanceof RawJsonObject;
    const requestState = written ? result.get('requestState') : result['requestState'];
    if (typeof requestState !== 'string') return result;
    const hidden = { requestState: this.deps.hide(requestState) };
    return written ? result.with(hidden) : { ...result, ...hidden };
  }

  private written(result: RpcResult): RpcResult {
    if (this.view.isVerbatim) return result;
    return modernResult(this.request.method, result, this.view.serverInfo);
  }
}
