import { type JsonObject, type RawJsonObject, Span, type SpanAttributes } from '@app/platform';
import { UpstreamRpcError } from '@app/mcp-protocol';
import { RequestCancelled } from './upstream.errors.js';

const SECURE_PORT = 443;
const PLAIN_PORT = 80;
const PIPE: SpanAttributes = ['network.transport', 'pipe'];

interface TracedSession {
  readonly protocolVersion: string;
  /** Undefined for a process. */
  readonly address?: URL | undefined;
}

/** A request to a server, named and described as the semantic conventions of OpenTelemetry say. */
export class UpstreamSpan extends Span {
  readonly kind = 'client';
  /** Of the last request that was sent for it. */
  requestId: number | undefined;
  private readonly subject: string | undefined;
  private status: number | undefined;

  constructor(
    parent: Span,
    private readonly session: TracedSession,
    private readonly method: string,
    params: JsonObject,
    /** The name under which it is registered. */
    private readonly server?: string,
  ) {
    super(parent.trace, parent, performance.now());
    const { name } = params;
    const isNamed = method === 'tools/call' || method === 'prompts/get';
    this.subject = isNamed && typeof name === 'string' ? name : undefined;
  }

  get name(): string {
    return this.subject === undefined ? this.method : `${this.method} ${this.subject}`;
  }

  get attributes(): SpanAttributes {
    const { method, subject, session } = this;
    const isTool = method === 'tools/call';
    return [
      'mcp.method.name',
      method,
      'gen_ai.operation.name',
      isTool ? 'execute_tool' : undefined,
      'gen_ai.tool.name',
      isTool ? subject : undefined,
      'gen_ai.prompt.name',
      isTool ? undefined : subject,
      'mcp.protocol.version',
      session.protocolVersion,
      'jsonrpc.request.id',
      this.requestId?.toString(),
      'rpc.response.status_code',
      this.status?.toString(),
      ...networkOf(session.address),
      'switchboard.server',
      this.server,
    ];
  }

  /** Ends with the request. */
  during(answer: Promise<RawJsonObject>): Promise<RawJsonObject> {
    return answer.then(
      (result) => {
        this.succeed(result);
        return result;
      },
      (error: unknown) => {
        this.fail(error);
        throw error;
      },
    );
  }

  private succeed(result: RawJsonObject): void {
    const isError = this.method === 'tools/call' && result.get('isError') === true;
    this.end(isError ? 'tool_error' : undefined);
  }

  override fail(error: unknown): void {
    if (error instanceof UpstreamRpcError) {
      this.status = error.rpc.code;
      this.end(String(error.rpc.code));
    } else if (error instanceof RequestCancelled) this.end('cancelled');
    else super.fail(error);
  }
}

const known = new WeakMap<URL, SpanAttributes>();

/** Once for each address: reading the parts of a URL costs as much as a span. */
function networkOf(address: URL | undefined): SpanAttributes {
  if (!address) return PIPE;
  let attributes = known.get(address);
  if (!attributes) known.set(address, (attributes = networkAt(address)));
  return attributes;
}

function networkAt(address: URL): SpanAttributes {
  const usualPort = address.protocol === 'https:' ? SECURE_PORT : PLAIN_PORT;
  return [
    'network.transport',
    'tcp',
    'network.protocol.name',
    'http',
    'server.address',
    address.hostname,
    'server.port',
    address.port === '' ? usualPort : Number(address.port),
  ];
}
