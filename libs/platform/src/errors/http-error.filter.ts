import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { errorAnswer } from './error-body.js';

/** The one place where an error becomes an HTTP answer. */
@Catch()
export class HttpErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const request = http.getRequest<FastifyRequest>();
    const answer = errorAnswer(error);
    if (answer.unexpected) {
      this.logger.error({ requestId: request.id, err: error }, 'unexpected error');
    }
    if (answer.retryAfterSeconds !== undefined) {
      void reply.header('retry-after', String(Math.ceil(answer.retryAfterSeconds)));
    }
    if (answer.challenge !== undefined) void reply.header('www-authenticate', answer.challenge);
    if (!reply.sent) void reply.status(answer.status).send(answer.body);
  }
}
