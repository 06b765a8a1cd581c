import {
  type CancelSignal,
  isJsonObject,
  RawJsonObject,
  readTraceContext,
  Span,
  type SpanAttributes,
  type TraceContext,
  type Tracing,
} from '@app/platform';
import {
  rpcCode,
  RpcError,
  type RpcId,
  type RpcRequest,
  type RpcResult,
  subjectOf,
  UpstreamRpcError,
} from '@app/mcp-protocol';
import type { IncomingHttpHeaders } from 'node:http';
import { rpcErrorOf } from './answer.js';
import type { McpClient, McpSurface } from '../surface.js';

/** Others are text of the client, of which there may be any number. */
const METHODS: ReadonlySet<string> = new Set([
  'completion/complete',
  'initialize',
  'logging/setLevel',
  'ping',
  'prompts/get',
  'prompts/list',
  'resources/list',
  'resources/read',
  'resources/subscribe',
  'resources/templates/list',
  'resources/unsubscribe',
  'server/discover',
  'subscriptions/listen',
  'tools/call',
  'tools/list',
]);

/** Codes that tell a client that its request is at fault; the conventions do not count them as errors. */
const CLIENT_FAULTS: ReadonlySet<number> = new Set([
  rpcCode.parseError,
  rpcCode.invalidRequest,
  rpcCode.methodNotFound,
  rpcCode.invalidParams,
  rpcCode.resourceNotFound,
]);

/** A request of an MCP client, named and described as the semantic conventions of OpenTelemetry say. */
export class RequestSpan extends Span {
  readonly kind = 'server';
  private status: number | undefined;

  constructor(
    trace: Span['trace'],
    startedAt: number,
    private readonly requestId: RpcId,
    private readonly method: string,
    private readonly subject: string | undefined,
    private readonly client: McpClient,
  ) {
    super(trace, undefined, startedAt);
  }

  get name(): string {
    const { subject } = this.target;
    return subject === undefined ? this.knownMethod : `${this.knownMethod} ${subject}`;
  }

  get attributes(): SpanAttributes {
    const { caller, version } = this.client;
    const { method, subject } = this.target;
    const isTool = method === 'tools/call';
    return [
      'mcp.method.name',
      this.knownMethod,
      'gen_ai.operation.name',
      isTool ? 'execute_tool' : undefined,
      'gen_ai.tool.name',
      isTool ? subject : undefined,
      'gen_ai.prompt.name',
      isTool ? undefined : subject,
      'mcp.protocol.version',
      version,
      'jsonrpc.request.id',
      String(this.requestId),
      'rpc.response.status_code',
      this.status?.toString(),
      'network.transport',
      'tcp',
      'network.protocol.name',
      'http',
      'client.address',
      caller.ip ?? undefined,
      'switchboard.view',
      caller.view,
    ];
  }

  succeed(result: RpcResult, { aborted }: CancelSignal): void {
    if (aborted) return this.cancel();
    const isError =
      this.method === 'tools/call' &&
      (result instanceof RawJsonObject ? result.get('isError') : result['isError']) === true;
    this.end(isError ? 'tool_error' : undefined);
  }

  /** The client took its request back, or went away. */
  cancel(): void {
    this.end('cancelled');
  }

  failWith({ code }: RpcError): void {
    this.status = code;
    this.end(CLIENT_FAULTS.has(code) ? undefined : String(code));
  }

  /** What the request is about; a name that is not known here is text of the client and is left out. */
  private get target(): { readonly method: string; readonly subject: string | undefined } {
    const { method, status } = this;
    const isNamed = method === 'tools/call' || method === 'prompts/get';
    const isKnown = status === undefined || !CLIENT_FAULTS.has(status);
    return { method, subject: isNamed && isKnown ? this.subject : undefined };
  }

  private get knownMethod(): string {
    return METHODS.has(this.method) ? this.method : '_OTHER';
  }
}

/** The error for the client. One of this service names the trace, if that is recorded; one of a server is unchanged. */
export function failedIn(
  span: RequestSpan | undefined,
  thrown: unknown,
  { isVerbatim }: Pick<McpSurface, 'isVerbatim'>,
): RpcError {
  const error = rpcErrorOf(thrown, span);
  span?.failWith(error);
  const traceId = span?.trace.recordedId;
  if (traceId === undefined || isVerbatim || thrown instanceof UpstreamRpcError) return error;
  const { code, message, data = {} } = error;
  return isJsonObject(data) ? new RpcError(code, message, { ...data, trace_id: traceId }) : error;
}

/** Undefined when tracing is off. The context in `_meta` is the parent, before that of the HTTP request. */
export function beginRequest(
  tracing: Tracing,
  request: RpcRequest,
  client: McpClient,
  headers: IncomingHttpHeaders,
): RequestSpan | undefined {
  const startedAt = performance.now();
  const { traceparent } = headers;
  const inHeader =
    traceparent === undefined ? undefined : readTraceContext(traceparent, headers['tracestate']);
  const meta = request.params?.['_meta'];
  const inMeta = isJsonObject(meta)
    ? readTraceContext(meta['traceparent'], meta['tracestate'])
    : undefined;
  const trace = tracing.begin(inMeta ?? inHeader, linkOf(inMeta, inHeader));
  return (
    trace &&
    new RequestSpan(trace, startedAt, request.id, request.method, subjectOf(request), client)
  );
}

function linkOf(
  parent: TraceContext | undefined,
  other: TraceContext | undefined,
): TraceContext | undefined {
  return parent && other && parent.spanId !== other.spanId ? other : undefined;
}
