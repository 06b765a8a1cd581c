import type { INestApplicationContext } from '@nestjs/common';
import {
  ClientLimits,
  Drain,
  dropRest,
  Env,
  isStillSending,
  RETRY_AFTER_S,
  ServiceStopping,
  UnsentBytes,
} from '@app/platform';
import type { FastifyInstance } from 'fastify';
import { ClientConnections } from './client-connections.js';
import { isConsoleFile } from './serve-console.js';

/** Time for requests in progress after the listener closes, before their connections are cut. */
const END_WITHIN_MS = 5_000;
/** Responses up to this size pass on any connection that is read at all. */
const SMALL_ANSWER_BYTES = 65_536;

/** Limits the resources that clients can hold; to be called before any route is added. */
export function guardClients(app: INestApplicationContext, fastify: FastifyInstance): void {
  const unsent = app.get(UnsentBytes);
  const drain = app.get(Drain);
  const max = app.get(Env).MCP_AGGREGATOR_MAX_CONNECTIONS;
  const connections = new ClientConnections(
    fastify.server,
    max,
    app.get(ClientLimits),
    (url) => !isConsoleFile(url),
  );
  unsent.adopt(fastify.server);
  drain.countWith(() => connections.outstanding);
  fastify.addHook('onRequest', (request, reply, done) => {
    // One packet may contain pipelined requests after the one that caused the connection to be cut or closed.
    if (!request.raw.socket.writable) return;
    // Makes Node send `Connection: close`, also where a response does not go through Fastify.
    if (drain.isStopping) reply.raw.shouldKeepAlive = false;
    if (!drain.isDraining || mayFinish(request.url)) return done();
    done(new ServiceStopping(RETRY_AFTER_S));
  });
  fastify.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode >= 400 && isStillSending(request.raw)) dropRest(request.raw);
    const isLarge =
      (typeof payload === 'string' || Buffer.isBuffer(payload)) &&
      payload.length > SMALL_ANSWER_BYTES;
    if (isLarge)
      setImmediate(() => unsent.watch(reply.raw, request.principal?.name ?? 'anonymous'));
    done(null, payload);
  });
  fastify.addHook('preClose', (done) => {
    connections.end(END_WITHIN_MS);
    done();
  });
}

/** Probes and metrics are served until the end; the MCP endpoints distinguish new requests from running ones. */
function mayFinish(url: string): boolean {
  return /^\/(mcp|metrics|health|api\/v1\/aggregator\/health)(\/|\?|$)/.test(url);
}
