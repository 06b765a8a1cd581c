import type { FastifyInstance, FastifyRequest } from 'fastify';
import { parseJsonBody, parsePassedOnBody, textOfBody } from './json-body.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** As received, of a request that another replica may have to answer. */
    bodyBytes?: Buffer;
  }
}

/** Parses every JSON body; `done` with an error answers the request. */
export function readJsonBodies(fastify: FastifyInstance): void {
  fastify.decorateRequest('bodyBytes');
  fastify.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      const bytes = typeof body === 'string' ? Buffer.from(body) : body;
      if (isMcp(request) && bytes.includes('"requestState"')) request.bodyBytes = bytes;
      done(null, isPassedOn(request) ? parsePassedOnBody(bytes) : parseJsonBody(textOfBody(bytes)));
    } catch (error) {
      // The MCP endpoints report parse errors in JSON-RPC.
      if (isMcp(request)) done(null, undefined);
      else done(error instanceof Error ? error : new Error('unreadable body'), undefined);
    }
  });
}

function isMcp({ url }: FastifyRequest): boolean {
  return /^\/mcp(\/|\?|$)/.test(url);
}

/** The content is forwarded to a server. */
function isPassedOn(request: FastifyRequest): boolean {
  return isMcp(request) || request.routeOptions.url === '/api/v1/tools/call';
}
