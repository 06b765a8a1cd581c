import type { JsonObject } from '@app/platform';
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

/** Requests of the server to its client that are in flight. */
export class ServedRequests {
  private readonly served = new Map<RpcId, AbortController>();
  private readonly perUser = new Map<string, number>();

  constructor(private readonly send: (answer: RpcMessage) => Promise<void>) {}

  /** `call` is the call that caused the request, if that is certain: its deadline is extended meanwhile. */
  async serve(
    { id, method, params = {} }: RpcRequest,
    handler: ServerRequestHandler | undefined,
    call: Call | undefined,
  ): Promise<void> {
    if (method === 'ping') return this.answer(id, { result: {} });
    if (!handler) {
      const why = call ? 'the caller cannot be asked' : 'it cannot be told whose call this is for';
      return this.refuse(id, rpcCode.methodNotFound, `${method} is not answered: ${why}`);
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
      await this.answer(id, { result: await handler(method, params, controller.signal) });
    } catch (error) {
      // Any other error is internal: its message could disclose more than the server may know.
      if (!(error instanceof UpstreamRpcError)) {
        return await this.refuse(id, rpcCode.internalError, 'The client could not answer');
      }
      await this.answer(id, { error: error.rpc });
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
    return this.answer(id, { error: { code, message } });
  }

  /** If sending fails, the session is ending anyway. */
  private answer(id: RpcId, body: { result: JsonObject } | { error: RpcErrorBody }): Promise<void> {
    return this.send({ jsonrpc: '2.0', id, ...body }).catch(() => undefined);
  }
}
