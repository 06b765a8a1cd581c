import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { readTraceContext, Span, type SpanAttributes, Tracing } from '@app/platform';
import type { FastifyInstance, FastifyRequest } from 'fastify';

const TRACED = '/api/';
/** Streams last as long as their client, and are no work. */
const STREAMS = '/api/v1/events';
const FIRST_SERVER_ERROR = 500;

/** A request of the REST API, described as the semantic conventions of OpenTelemetry say. */
class RestSpan extends Span {
  readonly kind = 'server';
  private status = 0;

  constructor(
    trace: Span['trace'],
    private readonly request: FastifyRequest,
    private readonly route: string,
  ) {
    super(trace, undefined, performance.now());
  }

  get name(): string {
    return `${this.request.method} ${this.route}`;
  }

  get attributes(): SpanAttributes {
    const { method, protocol, ip, id } = this.request;
    return [
      ...['http.request.method', method, 'http.route', this.route, 'url.scheme', protocol],
      ...['http.response.status_code', this.status],
      ...['client.address', ip],
      ...['switchboard.request_id', id],
    ];
  }

  answered(status: number): void {
    this.status = status;
    this.end(status >= FIRST_SERVER_ERROR ? String(status) : undefined);
  }
}

/** Does nothing when tracing is off. Must be called before any route is added. */
export function traceRequests(app: NestFastifyApplication, fastify: FastifyInstance): void {
  const tracing = app.get(Tracing);
  if (!tracing.isOn) return;
  const spans = new WeakMap<FastifyRequest, RestSpan>();
  fastify.addHook('onRoute', (route) => {
    if (!route.url.startsWith(TRACED) || route.url === STREAMS) return;
    // On these routes alone: for a hook on all routes, each request of an MCP client would get listeners too.
    route.onRequest = [
      (request, _reply, done) => {
        const { traceparent, tracestate } = request.headers;
        const trace = tracing.begin(readTraceContext(traceparent, tracestate));
        if (trace) {
          const span = new RestSpan(trace, request, route.url);
          spans.set(request, span);
          request.span = span;
        }
        done();
      },
      ...[route.onRequest ?? []].flat(),
    ];
    route.onResponse = [
      (request, reply, done) => {
        spans.get(request)?.answered(reply.statusCode);
        done();
      },
      ...[route.onResponse ?? []].flat(),
    ];
    // The client went away before its answer.
    route.onRequestAbort = [
      (request, done) => {
        spans.get(request)?.end('cancelled');
        done();
      },
      ...[route.onRequestAbort ?? []].flat(),
    ];
  });
}
