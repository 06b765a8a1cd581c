import { cutText, type JsonObject } from '@app/platform';
import {
  rpcCode,
  type RpcErrorBody,
  type RpcId,
  type RpcMessage,
  type RpcRequest,
  UpstreamRpcError,
} from '@app/mcp-protocol';
import type { Call } from '../session/calls/pending-calls.js';
import type { ServerRequestHandler } from '../upstream.js';

/** Open server requests per session: a total, and a share per user so that no user exhausts it for the others. */
const MAX_SERVED = 1_024;
const MAX_SERVED_PER_USER = 64;
/** The share of requests that belong to no call. */
const NO_USER = '';
/**
 * Answers to pings and refusals, per session, that the server has not taken yet. Over HTTP each is a request of its own;
 * half of the connections to a server are left for calls.
 */
const MAX_UNTAKEN = 128;
/** An answer repeats the id of its request, and a refusal the method. */
const MAX_ID_CHARS = 1_000;
const MAX_METHOD_CHARS = 100;

type AnswerBody = { readonly result: JsonObject } | { readonly error: RpcErrorBody };

/** Requests of the server to its client that are in flight. */
export class ServedRequests {
  private readonly served = new Map<RpcId, AbortController>();
  private readonly perUser = new Map<string, number>();
  private untaken = 0;
  private isDropTold = false;

  constructor(
    private readonly send: (answer: RpcMessage) => Promise<void>,
    private readonly log: (line: string) => void,
  ) {}

  /** `call` is the call that caused the request, if that is certain: its deadline is extended meanwhile. */
  async serve(
    { id, method, params = {} }: RpcRequest,
    handler: ServerRequestHandler | undefined,
    call: Call | undefined,
  ): Promise<void> {
    if (typeof id === 'string' && id.length > MAX_ID_CHARS) {
      return this.log(`a request gets no answer: its id is longer than ${MAX_ID_CHARS} characters`);
    }
    if (method === 'ping') return this.answerAtOnce(id, { result: {} });
    if (!handler) {
      const why = call ? 'the caller cannot be asked' : 'it cannot be told whose call this is for';
      const asked = cutText(method, MAX_METHOD_CHARS);
      return this.refuse(id, rpcCode.methodNotFound, `${asked} is not answered: ${why}`);
    }
    const user = call?.options.caller?.principal ?? NO_USER;
    const open = this.perUser.get(user) ?? 0;
    if (open >= MAX_SERVED_PER_USER || this.served.size >= MAX_SERVED || this.served.has(id)) {
      return this.refuse(id, rpcCode.serverError, 'Too many requests at once');
    }
    const controller = new AbortController();
    this.served.set(id, controller);
    this.perUser.set(user, open + 1);
    if (call) call.asking++;
    try {
      await this.answer(id, await bodyOf(() => handler(method, params, controller.signal)));
    } finally {
      this.served.delete(id);
      const left = (this.perUser.get(user) ?? 1) - 1;
      if (left > 0) this.perUser.set(user, left);
      else this.perUser.delete(user);
      if (call) call.asking--;
    }
  }

  cancel(id: RpcId): void {
    this.served.get(id)?.abort();
  }

  cancelAll(): void {
    for (const controller of this.served.values()) controller.abort();
  }

  private refuse(id: RpcId, code: number, message: string): Promise<void> {
    return this.answerAtOnce(id, { error: { code, message } });
  }

  /** A server that sends requests faster than it takes the answers gets none for the excess. */
  private async answerAtOnce(id: RpcId, body: AnswerBody): Promise<void> {
    if (this.untaken >= MAX_UNTAKEN) {
      if (!this.isDropTold) this.log(`requests get no answer: ${MAX_UNTAKEN} were not taken yet`);
      this.isDropTold = true;
      return;
    }
    this.untaken++;
    await this.answer(id, body);
    this.untaken--;
    if (this.untaken === 0) this.isDropTold = false;
  }

  /** If sending fails, the session is ending anyway. */
  private answer(id: RpcId, body: AnswerBody): Promise<void> {
    return this.send({ jsonrpc: '2.0', id, ...body }).catch(() => undefined);
  }
}

async function bodyOf(answer: () => ReturnType<ServerRequestHandler>): Promise<AnswerBody> {
  try {
    return { result: await answer() };
  } catch (error) {
    if (error instanceof UpstreamRpcError) return { error: error.rpc };
    // Any other error is internal: its message could disclose more than the server may know.
    return { error: { code: rpcCode.internalError, message: 'The client could not answer' } };
  }
}
