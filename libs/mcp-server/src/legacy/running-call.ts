import { Cancellation, type CancelSignal, type JsonObject } from '@app/platform';
import type { RpcError, RpcId, RpcRequest, RpcResponse } from '@app/mcp-protocol';
import type { ClientResponse } from '../endpoint/client-response.js';
import type { ClientQuestions } from './client-questions.js';
import type { ClientCall, McpClient } from '../surface.js';

/** A request of a session in flight. */
export class RunningCall implements ClientCall {
  readonly input = NO_INPUT;
  readonly signal = new Cancellation();
  private isSettled = false;

  constructor(
    private readonly request: RpcRequest,
    readonly client: McpClient,
    private readonly questions: ClientQuestions,
    private readonly response: ClientResponse,
  ) {}

  get id(): RpcId {
    return this.request.id;
  }

  get method(): string {
    return this.request.method;
  }

  abort(reason: Error): void {
    this.signal.abort(reason);
  }

  /** Ends it with an error at once, before the view reacts to the abort. */
  interrupt(error: RpcError): void {
    this.signal.abort(error);
    this.settle({ jsonrpc: '2.0', id: this.id, error: error.body });
  }

  /** Sends the answer; there is none when its client cancelled it. */
  settle(answer: RpcResponse | undefined): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.response.settle(answer);
  }

  notify(method: string, params: JsonObject): void {
    if (!this.isSettled) this.response.send({ jsonrpc: '2.0', method, params });
  }

  /** Sends a server request; it is cancelled with the call or by its own signal. */
  ask(method: string, params: JsonObject, signal?: CancelSignal): Promise<JsonObject> {
    const signals = signal ? [this.signal, signal] : [this.signal];
    return this.questions.ask(method, params, signals, (message) => this.response.send(message));
  }
}
const NO_INPUT: JsonObject = {};
