import type { CancelSignal, JsonObject } from '@app/platform';
import {
  type ReceivedResponse,
  RpcError,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
} from '@app/mcp-protocol';
import { requireCapability } from '../endpoint/client-capabilities.js';

interface Question {
  readonly answer: (result: JsonObject) => void;
  readonly fail: (error: Error) => void;
}

/** Server requests to the client of a session that it has not answered yet. */
export class ClientQuestions {
  private readonly open = new Map<RpcId | null, Question>();
  private last = 0;

  constructor(private readonly capabilities: JsonObject) {}

  get size(): number {
    return this.open.size;
  }

  /** Sends a request; it is cancelled when one of the signals aborts. */
  async ask(
    method: string,
    params: JsonObject,
    signals: readonly CancelSignal[],
    send: (message: RpcRequest | RpcNotification) => void,
  ): Promise<JsonObject> {
    requireCapability(this.capabilities, method, params);
    for (const signal of signals) signal.throwIfAborted();
    const id = ++this.last;
    return new Promise<JsonObject>((answer, fail) => {
      const stop = (): void => {
        send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
        end();
        fail(new Error('the question was taken back'));
      };
      const end = (): void => {
        for (const signal of signals) signal.removeEventListener('abort', stop);
        this.open.delete(id);
      };
      for (const signal of signals) signal.addEventListener('abort', stop);
      this.open.set(id, {
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

  /** Handles an answer of the client. */
  settle(response: ReceivedResponse): void {
    const question = this.open.get(response.id);
    if ('result' in response) question?.answer(response.result);
    else
      question?.fail(
        new RpcError(response.error.code, response.error.message, response.error.data),
      );
  }

  failAll(error: Error): void {
    for (const question of this.open.values()) question.fail(error);
  }
}
