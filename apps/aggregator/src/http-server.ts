import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import { normalOrigin } from '@app/access';
import { type Env, errorAnswer, parseJsonBody } from '@app/platform';
import helmet, { type HelmetOptions } from 'helmet';
import { randomUUID } from 'node:crypto';
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { ConnectionError, FastifyReply, FastifyRequest } from 'fastify';
import { connectionEnder } from './end-connections.js';

/** Time for a client to send a whole request; answers, streams included, may take as long as they need. */
const REQUEST_TIMEOUT_MS = 60_000;
const HEADERS_TIMEOUT_MS = 15_000;
/** Longer than the 60 s of common load balancers, so that it is they who close an idle connection. */
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** Fastify with limits on what a stranger can make it hold, and with our errors for what it refuses itself. */
export function createHttpAdapter(env: Env): FastifyAdapter {
  const proxies = env.MCP_AGGREGATOR_TRUST_PROXY;
  const adapter = new FastifyAdapter({
    bodyLimit: env.MCP_AGGREGATOR_BODY_LIMIT,
    // Only what our proxies added: what stands before that in the header is whatever the caller sent.
    trustProxy: proxies > 0 && ((_address: string, hop: number) => hop < proxies),
    genReqId: requestIds(),
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    http: { headersTimeout: HEADERS_TIMEOUT_MS, connectionsCheckingInterval: 5_000 },
    // Longer than any id or name of ours, so that a long one gets our 404 or 422.
    routerOptions: { maxParamLength: 2_048 },
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      const { status, body } = errorAnswer(error);
      void reply.status(status).send(body);
    },
    clientErrorHandler: answerUnreadable,
  });
  const fastify = adapter.getInstance();
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parseJsonBody(body.toString()));
    } catch (error) {
      // The MCP endpoints say in JSON-RPC that they could not read it.
      if (/^\/mcp(\/|\?|$)/.test(request.url)) done(null, undefined);
      else done(error instanceof Error ? error : new Error('unreadable body'), undefined);
    }
  });
  const headers = securityHeaders();
  // MCP answers do not pass here: they are written past Fastify, and are for no browser to show.
  fastify.addHook('onSend', (request, reply, payload, done) => {
    void reply.headers(headers).header('x-request-id', request.id);
    done(null, payload);
  });
  const endConnections = connectionEnder(fastify.server);
  fastify.addHook('preClose', (done) => {
    endConnections();
    done();
  });
  return adapter;
}

/** Random as to the process, then counted: a random one each time costs more than looking the token up. */
function requestIds(): () => string {
  const process = randomUUID().slice(0, -12);
  let last = 0;
  return () => process + (++last).toString(16).padStart(12, '0');
}

const unreadable: Readonly<Record<string, readonly [status: string, detail: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'The headers are too large'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'The request took too long to arrive'],
};

/** What arrived is not HTTP, so there is no request to answer in the usual way. */
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

/** Enough for the API documentation, whose page has inline styles; nothing here frames or is framed. */
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
  // For browsers of long ago, and paid for with every answer.
  originAgentCluster: false,
  xDnsPrefetchControl: false,
  xDownloadOptions: false,
  xPermittedCrossDomainPolicies: false,
  xXssProtection: false,
  // Whether other services of the same domain speak TLS is not ours to say.
  strictTransportSecurity: { includeSubDomains: false },
};

/** The same for every answer, so helmet is asked once: asked each time it costs as much as all the rest of a small answer. */
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
    strictPreflight: false, // it would answer in plain text
  };
}
