import type { IncomingHttpHeaders } from 'node:http';
import { type Clock, isJsonObject, type JsonObject, type JsonValue } from '@app/platform';
import { rpcErrorOf } from './answer.js';
import type { HttpExchange } from './http-exchange.js';
import { listen } from './listen-stream.js';
import {
  envelopeOf,
  isModernMethod,
  MODERN_VERSIONS,
  modernResult,
  requireHeaders,
  requireParamHeaders,
  subjectOf,
  withoutEnvelope,
} from './modern-rules.js';
import { rpcCode, RpcError, type RpcRequest } from './rpc.js';
import { Seal } from './seal.js';
import { StatelessCall } from './stateless-call.js';
import { ANSWER_WITHIN_MS, SuspendedCalls } from './suspended-calls.js';
import type { Caller, McpClient, McpView } from './view.js';

const MAX_LISTENERS = 10_000;

/** Protocol revision 2026-07-28: every request stands for itself. */
export class ModernWire {
  private readonly suspended = new SuspendedCalls();
  private readonly seal: Seal;
  private readonly listeners = new Set<() => void>();

  constructor(clock: Pick<Clock, 'now'>) {
    this.seal = new Seal(ANSWER_WITHIN_MS, () => clock.now().getTime());
  }

  async serve(
    view: McpView,
    request: RpcRequest,
    version: string | undefined,
    headers: IncomingHttpHeaders,
    exchange: HttpExchange,
    caller: Caller,
  ): Promise<void> {
    const refusal = refusalOf(view, request, version, headers);
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
    const answers = isJsonObject(inputResponses) ? inputResponses : undefined;
    const purpose = JSON.stringify([
      client.caller.name,
      view.key,
      request.method,
      subjectOf(request) ?? null,
    ]);
    const state = requestState === undefined ? undefined : this.stateIn(requestState, purpose);
    if (state?.kind === 'suspended') {
      const call = this.suspended.resume(state.text);
      if (!call) throw new InvalidState();
      return call.goOn(exchange, request.id, answers ?? {});
    }
    const input: JsonObject = {
      ...(answers && { inputResponses: answers }),
      ...(state && { requestState: state.text }),
    };
    new StatelessCall(request, client, input, view, {
      suspend: (call) => this.seal.close(`suspended:${this.suspended.suspend(call)}`, purpose),
      hide: (text) => this.seal.close(`server:${text}`, purpose),
    }).start(exchange, withoutEnvelope(params));
  }

  /** Only what we gave to this caller, for this very thing, and not too long ago. */
  private stateIn(
    requestState: JsonValue,
    purpose: string,
  ): { readonly kind: 'suspended' | 'server'; readonly text: string } {
    const opened =
      typeof requestState === 'string' ? this.seal.open(requestState, purpose) : undefined;
    if (opened?.startsWith('suspended:')) {
      return { kind: 'suspended', text: opened.slice('suspended:'.length) };
    }
    if (opened?.startsWith('server:')) {
      return { kind: 'server', text: opened.slice('server:'.length) };
    }
    throw new InvalidState();
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

class InvalidState extends RpcError {
  constructor() {
    super(rpcCode.invalidParams, 'Invalid or expired requestState', {
      reason: 'invalid_request_state',
    });
  }
}

function refusalOf(
  view: McpView,
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
    const schema = request.method === 'tools/call' && view.inputSchemaOf(subjectOf(request) ?? '');
    if (schema) requireParamHeaders(headers, schema, request.params?.['arguments']);
  } catch (error) {
    return { status: 400, error: rpcErrorOf(error) };
  }
  if (!isModernMethod(request.method)) {
    return { status: 404, error: new RpcError(rpcCode.methodNotFound, 'Method not found') };
  }
  return undefined;
}
