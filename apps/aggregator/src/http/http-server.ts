import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { normalOrigin } from '@app/access';
import { bodyLimits, type Env, errorAnswer, limitBody, readJsonBodies } from '@app/platform';
import { Logger } from '@nestjs/common';
import helmet, { type HelmetOptions } from 'helmet';
import { randomUUID } from 'node:crypto';
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify';

/** Time to receive a complete request; responses, streams included, have no limit. */
const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Keep-alive longer than the 60 s of common load balancers, so that the balancer closes idle connections. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

const logger = new Logger('http');

/** Fastify with limits for untrusted clients and our error format for its own refusals. */
export function createHttpAdapter(env: Env): FastifyAdapter {
  const proxies = env.MCP_AGGREGATOR_TRUST_PROXY;
  const adapter = new FastifyAdapter({
    // For unknown paths; routes have their own limit.
    bodyLimit: Math.min(bodyLimits.usual, env.MCP_AGGREGATOR_BODY_LIMIT),
    // Only addresses added by our proxies: the rest of the header is set by the caller.
    trustProxy: proxies > 0 && ((_address: string, hop: number) => hop < proxies),
    genReqId: requestIds(),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 5_000 },
    // Longer than any id or name, so that a longer one gets our 404 or 422.
    routerOptions: { maxParamLength: 2_048 },
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      const { status, body } = errorAnswer(error);
      void reply.status(status).send(body);
    },
    clientErrorHandler: answerUnreadable,
  });
  const fastify = adapter.getInstance();
  fastify.addHook('onRoute', (route) => limitBody(route, env.MCP_AGGREGATOR_BODY_LIMIT));
  readJsonBodies(fastify);
  const headers = securityHeaders();
  // MCP responses bypass Fastify and are not rendered by browsers.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    void reply.headers(headers).header('x-request-id', request.id);
    done(null, payload);
  });
  // Node reports connections that it could not accept, such as for lack of file descriptors; open ones are not
  // affected.
  fastify.server.on('error', (error) => {
    if (fastify.server.listening) logger.warn({ err: error }, 'a connection was not accepted');
  });
  return adapter;
}

/** A random prefix per process and a counter: a random id per request costs more than looking up the token. */
function requestIds(): () => string {
  const process = randomUUID().slice(0, -12);
  let last = 0;
  return () => process + (++last).toString(16).padStart(12, '0');
}

const unreadable: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive'],
};

/** The input is not HTTP, so there is no request to respond to. */
function answerUnreadable(error: ConnectionError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [status, detail] = unreadable[error.code] ?? ['400 Bad Request', 'This is not HTTP'];
  const body = JSON.stringify({ detail, error_code: 'MALFORMED_REQUEST' });
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
  );
}

/** Sufficient for the API documentation, whose page has inline styles; framing is forbidden. */
const helmetOptions: HelmetOptions = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'", "'unsafe-inline'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: ["'self'"],
      baseUri: ["'none'"],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
    },
  },
  xFrameOptions: { action: 'deny' },
  // Headers for obsolete browsers cost time on every response.
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  // HSTS would also affect other services of the same domain.
  strictTransportSecurity: { includeSubDomains: false },
};

/** The same for every response, so helmet runs once: per response it costs as much as the rest of a small one. */
function securityHeaders(): OutgoingHttpHeaders {
  const answer = new ServerResponse(new IncomingMessage(new Socket()));
  helmet(helmetOptions)(answer.req, answer, (error) => {
    if (error) throw error instanceof Error ? error : new Error('helmet failed');
  });
  return { ...answer.getHeaders() };
}

type CorsOptions = NonNullable<Parameters<NestFastifyApplication['enableCors']>[0]>;

/** For the pages of MCP_AGGREGATOR_ALLOWED_ORIGINS; they send a token, never cookies. */
export function corsOptions(env: Env): CorsOptions | undefined {
  const origin = env.MCP_AGGREGATOR_ALLOWED_ORIGINS.map(normalOrigin);
  if (origin.length === 0) return undefined;
  return {
    origin,
    methods: ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'],
    exposedHeaders: ['mcp-session-id', 'retry-after', 'www-authenticate', 'x-request-id'],
    maxAge: 600,
    strictPreflight: false, // a strict preflight fails in plain text
  };
}
