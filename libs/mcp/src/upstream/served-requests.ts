import type { JsonObject } from '@app/platform';
import type { OutgoingMessage, RequestId } from './json-rpc.js';
import type { Call } from './pending-calls.js';
import type { ServerRequestHandler } from './upstream.js';
import { UpstreamRpcError } from './upstream.errors.js';

/** Questions of one server at the same time. */
const MAX_SERVED = 64;

interface Question {
  readonly id: RequestId;
  readonly method: string;
  readonly params: JsonObject;
}

/** What a server asks of its client, while it is being answered. */
export class ServedRequests {
  private readonly served = new Map<RequestId, AbortController>();

  constructor(private readonly send: (answer: OutgoingMessage) => Promise<void>) {}

  /** `call` is the one that made the server ask, if known: it waits meanwhile. */
  async serve(
    { id, method, params }: Question,
    handler: ServerRequestHandler | undefined,
    call: Call | undefined,
  ): Promise<void> {
    if (method === 'ping') return this.answer(id, { result: {} });
    if (!handler) return this.refuse(id, -32_601, 'Method not found');
    if (this.served.size >= MAX_SERVED || this.served.has(id)) {
      return this.refuse(id, -32_000, 'Too many requests at once');
    }
    const controller = new AbortController();
    this.served.set(id, controller);
    if (call) call.asking++;
    try {
      await this.answer(id, { result: await handler(method, params, controller.signal) });
    } catch (error) {
      // Another failure is ours, and its message could tell the server more about us than it may know.
      if (!(error instanceof UpstreamRpcError)) {
        return await this.refuse(id, -32_603, 'The client could not answer');
      }
      await this.answer(id, { error: { ...error.rpc } });
    } finally {
      this.served.delete(id);
      if (call) call.asking--;
    }
  }

  cancel(id: RequestId): void {
    this.served.get(id)?.abort();
  }

  cancelAll(): void {
    for (const controller of this.served.values()) controller.abort();
  }

  private refuse(id: RequestId, code: number, message: string): Promise<void> {
    return this.answer(id, { error: { code, message } });
  }

  /** When it cannot be sent the session is ending anyway. */
  private answer(
    id: RequestId,
    body: { result: JsonObject } | { error: JsonObject },
  ): Promise<void> {
    return this.send({ jsonrpc: '2.0', id, ...body }).catch(() => undefined);
  }
}
