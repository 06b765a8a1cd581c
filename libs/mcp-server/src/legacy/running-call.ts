import { Cancellation, type CancelSignal, type JsonObject } from '@app/platform';
import type { RpcError, RpcId, RpcRequest, RpcResponse } from '@app/mcp-protocol';
import type { ClientResponse } from '../endpoint/client-response.js';
import type { ClientQuestions } from './client-questions.js';
import type { RequestSpan } from '../endpoint/request-span.js';
import type { ClientCall, McpClient } from '../surface.js';

/** For a client to connect again, so that it can be asked. */
const RESUME_WITHIN_MS = 10_000;
const LOOKS = 2;

/** A request of a session in flight. */
export class RunningCall implements ClientCall {
  readonly input = NO_INPUT;
  readonly signal = new Cancellation();
  span: RequestSpan | undefined;
  private isSettled = false;

  constructor(
    readonly request: RpcRequest,
    readonly client: McpClient,
    private readonly questions: ClientQuestions,
    readonly response: ClientResponse,
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

  /**
   * Sends a server request; it is cancelled with the call, by its own signal, or when its client is away: a client that
   * gave up without a cancellation would hold up a server that serves one client at a time.
   */
  async ask(method: string, params: JsonObject, signal?: CancelSignal): Promise<JsonObject> {
    if (this.response.reach === 'never') throw new Error('the client went away');
    const away = new Cancellation();
    const watch = this.watchFor(() => away.abort(new Error('the client is away')));
    const signals = signal ? [this.signal, away, signal] : [this.signal, away];
    try {
      return await this.questions.ask(method, params, signals, (message) =>
        this.response.send(message),
      );
    } finally {
      clearInterval(watch);
    }
  }

  /** Calls back when the client did not resume its stream in time. */
  private watchFor(onAway: () => void): NodeJS.Timeout {
    let missed = 0;
    const look = (): void => {
      missed = this.response.reach === 'now' ? 0 : missed + 1;
      if (missed >= LOOKS) onAway();
    };
    return setInterval(look, RESUME_WITHIN_MS / LOOKS).unref();
  }
}
const NO_INPUT: JsonObject = {};
