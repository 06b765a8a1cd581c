import { type ArgumentsHost, Catch, type ExceptionFilter, Logger } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DatabaseUnavailable } from '../database/failures/database.errors.js';
import { OutageLog } from '../database/failures/outage-log.js';
import { type ErrorBody, errorAnswer } from './error-body.js';

const FIRST_SERVER_ERROR = 500;
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
    const traceId = traceOf(request, answer.status);
    if (answer.unexpected) {
      this.logger.error(
        { request_id: request.id, ...(traceId && { trace_id: traceId }), handler, err: error },
        'request.failed',
      );
    } else if (error instanceof DatabaseUnavailable) {
      this.outages.note(handler, error);
    }
    if (answer.retryAfterSeconds !== undefined) {
      void reply.header('retry-after', String(Math.ceil(answer.retryAfterSeconds)));
    }
    if (answer.challenge !== undefined) void reply.header('www-authenticate', answer.challenge);
    // The route may have set another content type, such as the one of metrics.
    if (reply.sent) return;
    const body = traceId ? withTrace(answer.body, traceId) : answer.body;
    void reply.status(answer.status).type(JSON_TYPE).send(body);
  }
}

/** The id of a trace that is recorded, as those of all failures are. */
function traceOf({ span }: FastifyRequest, status: number): string | undefined {
  return status >= FIRST_SERVER_ERROR ? span?.trace.id : span?.trace.recordedId;
}

function withTrace(body: ErrorBody, traceId: string): ErrorBody {
  return { ...body, context: { ...body.context, trace_id: traceId } };
}
