import helmet from '@fastify/helmet';
import { NestFactory } from '@nestjs/core';
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify';
import {
  createPino,
  type Env,
  errorAnswer,
  HttpErrorFilter,
  parseJsonBody,
  PinoLogger,
  RequestValidationPipe,
} from '@app/platform';
import { randomUUID } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppModule } from './app.module.js';

/** The whole service, not yet listening; tests start it the same way. */
export async function createApp(env: Env): Promise<NestFastifyApplication> {
  const logger = new PinoLogger(createPino(env));
  const adapter = new FastifyAdapter({
    bodyLimit: env.MCP_AGGREGATOR_BODY_LIMIT,
    trustProxy: env.MCP_AGGREGATOR_TRUST_PROXY,
    genReqId: () => randomUUID(),
    // Longer than any id or name of ours, so that a long one gets our 404 or 422.
    routerOptions: { maxParamLength: 2_048 },
    frameworkErrors: (error: Error, _request: FastifyRequest, reply: FastifyReply) => {
      const { status, body } = errorAnswer(error);
      void reply.status(status).send(body);
    },
  });
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(env), adapter, {
    logger,
    bodyParser: false,
    abortOnError: false,
  });
  const fastify = adapter.getInstance();
  fastify.addContentTypeParser(
    'application/json',
    { parseAs: 'string' },
    (_request, body, done) => {
      try {
        done(null, parseJsonBody(body.toString()));
      } catch (error) {
        done(error instanceof Error ? error : new Error('unreadable body'), undefined);
      }
    },
  );
  fastify.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    done();
  });
  await app.register(helmet);
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new HttpErrorFilter());
  return app;
}
