import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccessControl } from '@app/access';
import {
  createPino,
  type Env,
  HttpErrorFilter,
  PinoLogger,
  RequestValidationPipe,
} from '@app/platform';
import { serveApiDocs } from './api-docs.js';
import { AppModule } from './app.module.js';
import { corsOptions, createHttpAdapter } from './http-server.js';

/** The whole service, not yet listening; tests start it the same way. */
export async function createApp(env: Env): Promise<NestFastifyApplication> {
  const logger = new PinoLogger(await createPino(env));
  const adapter = createHttpAdapter(env);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(env), adapter, {
    logger,
    bodyParser: false,
    abortOnError: false,
  });
  const cors = corsOptions(env);
  if (cors) app.enableCors(cors);
  await app.get(AccessControl).install(adapter.getInstance());
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new HttpErrorFilter());
  serveApiDocs(app);
  return app;
}
