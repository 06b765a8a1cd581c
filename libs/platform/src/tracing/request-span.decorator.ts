import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Span } from './span.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Set on routes of the REST API when tracing is on. */
    span?: Span;
  }
}

/** The span of the request; undefined when nothing is traced. */
export const CurrentSpan = createParamDecorator(
  (_: unknown, context: ExecutionContext): Span | undefined =>
    context.switchToHttp().getRequest<FastifyRequest>().span,
);
