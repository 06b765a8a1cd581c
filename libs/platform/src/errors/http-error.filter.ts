import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DatabaseUnavailable } from '../database/failures/database.errors.js';
import { OutageLog } from '../database/failures/outage-log.js';
import { errorAnswer } from './error-body.js';

const JSON_TYPE = 'application/json; charset=utf-8';

/** Turns every error into an HTTP response. */
@Catch()
export class HttpErrorFilter implements ExceptionFilter {
  private readonly logger = new Logger('http');
  private readonly outages = new OutageLog(this.logger);

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const request = http.getRequest<FastifyRequest>();
    const answer = errorAnswer(error);
    const handler = `${request.method} ${request.routeOptions.url ?? '(no such route)'}`;
    if (answer.unexpected) {
      this.logger.error({ request_id: request.id, handler, err: error }, 'request.failed');
    } else if (error instanceof DatabaseUnavailable) {
      this.outages.note(handler, error);
    }
    if (answer.retryAfterSeconds !== undefined) {
      void reply.header('retry-after', String(Math.ceil(answer.retryAfterSeconds)));
    }
    if (answer.challenge !== undefined) void reply.header('www-authenticate', answer.challenge);
    // The route may have set another content type, such as the one of metrics.
    if (!reply.sent) void reply.status(answer.status).type(JSON_TYPE).send(answer.body);
  }
}
