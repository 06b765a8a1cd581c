import type { IncomingHttpHeaders } from 'node:http';
import { rpcErrorOf } from './answer.js';
import type { HttpExchange } from './http-exchange.js';
import { listen } from './listen-stream.js';
import {
  envelopeOf,
  isModernMethod,
  MODERN_VERSIONS,
  modernResult,
  requireHeaders,
  withoutEnvelope,
} from './modern-rules.js';
import { isJsonObject } from '../upstream/json-rpc.js';
import { rpcCode, RpcError, type RpcRequest } from './rpc.js';
import { StatelessCall, SuspendedCalls } from './suspended-calls.js';
import type { Caller, McpClient, McpView } from './view.js';

const MAX_LISTENERS = 10_000;

/** Protocol revision 2026-07-28: every request stands for itself. */
export class ModernWire {
  private readonly suspended = new SuspendedCalls();
  private readonly listeners = new Set<() => void>();

  async serve(
    view: McpView,
    request: RpcRequest,
    version: string | undefined,
    headers: IncomingHttpHeaders,
    exchange: HttpExchange,
    caller: Caller,
  ): Promise<void> {
    const refusal = refusalOf(request, version, headers);
    if (refusal) return exchange.refuse(refusal.status, refusal.error.body, request.id);
    const params = request.params ?? {};
    const client: McpClient = { era: 'modern', caller, ...envelopeOf(params) };
    try {
      switch (request.method) {
        case 'server/discover':
          return await this.discover(view, request, exchange);
        case 'subscriptions/listen':
          return await this.listen(view, request, exchange);
        default:
          return this.call(view, request, client, exchange);
      }
    } catch (error) {
      exchange.refuse(200, rpcErrorOf(error).body, request.id);
    }
  }

  close(): void {
    for (const end of this.listeners) end();
    this.listeners.clear();
    this.suspended.closeAll();
  }

  private call(
    view: McpView,
    request: RpcRequest,
    client: McpClient,
    exchange: HttpExchange,
  ): void {
    const { requestState, inputResponses, ...params } = request.params ?? {};
    if (requestState !== undefined) {
      const call = this.suspended.resume(requestState, request, client, view);
      return call.goOn(exchange, request.id, isJsonObject(inputResponses) ? inputResponses : {});
    }
    new StatelessCall(request, client, view, this.suspended).start(
      exchange,
      withoutEnvelope(params),
    );
  }

  private async discover(
    view: McpView,
    request: RpcRequest,
    exchange: HttpExchange,
  ): Promise<void> {
    await view.ready();
    const { capabilities, instructions } = view.describe();
    const { tasks: _tasks, ...known } = capabilities;
    exchange.finish({
      jsonrpc: '2.0',
      id: request.id,
      result: modernResult(
        request.method,
        {
          supportedVersions: MODERN_VERSIONS,
          capabilities: known,
          ...(instructions !== undefined && { instructions }),
        },
        view.serverInfo,
      ),
    });
  }

  private async listen(view: McpView, request: RpcRequest, exchange: HttpExchange): Promise<void> {
    if (this.listeners.size >= MAX_LISTENERS) {
      throw new RpcError(rpcCode.internalError, 'Subscription limit reached');
    }
    await view.ready();
    const end = await listen(request, view, exchange);
    this.listeners.add(end);
    exchange.onClientGone(() => this.listeners.delete(end));
  }
}

function refusalOf(
  request: RpcRequest,
  version: string | undefined,
  headers: IncomingHttpHeaders,
): { status: number; error: RpcError } | undefined {
  if (version === undefined || !MODERN_VERSIONS.includes(version)) {
    const requested = version ?? 'unknown';
    const message = `Unsupported protocol version: ${requested}`;
    const data = { supported: MODERN_VERSIONS, requested };
    return { status: 400, error: new RpcError(rpcCode.unsupportedVersion, message, data) };
  }
  try {
    requireHeaders(headers, request);
  } catch (error) {
    return { status: 400, error: rpcErrorOf(error) };
  }
  if (!isModernMethod(request.method)) {
    return { status: 404, error: new RpcError(rpcCode.methodNotFound, 'Method not found') };
  }
  return undefined;
}
