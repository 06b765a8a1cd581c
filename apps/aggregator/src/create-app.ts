import { NestFactory } from '@nestjs/core';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { AccessControl } from '@app/access';
import {
  createPino,
  type Env,
  HttpErrorFilter,
  PinoLogger,
  RequestValidationPipe,
  UnknownParameters,
} from '@app/platform';
import { serveApiDocs } from './http/api-docs.js';
import { AppModule } from './app.module.js';
import { announceReplica } from './http/announce-replica.js';
import { guardClients } from './http/guard-clients.js';
import { corsOptions, createHttpAdapter } from './http/http-server.js';
import { traceRequests } from './http/trace-requests.js';
import { builtConsole, leadBrowsersToConsole, serveConsole } from './http/serve-console.js';

/** The whole service before it listens; also used by tests. */
export async function createApp(
  env: Env,
  consoleFolder = builtConsole(),
): Promise<NestFastifyApplication> {
  const logger = new PinoLogger(await createPino(env));
  const adapter = createHttpAdapter(env);
  const app = await NestFactory.create<NestFastifyApplication>(AppModule.forRoot(env), adapter, {
    logger,
    bodyParser: false,
    abortOnError: false,
  });
  const cors = corsOptions(env);
  if (cors) app.enableCors(cors);
  traceRequests(app, adapter.getInstance());
  guardClients(app, adapter.getInstance());
  announceReplica(app, adapter.getInstance());
  if (env.MCP_AGGREGATOR_CONSOLE) leadBrowsersToConsole(adapter.getInstance());
  await app.get(AccessControl).install(adapter.getInstance());
  app.useGlobalGuards(new UnknownParameters());
  app.useGlobalPipes(new RequestValidationPipe());
  app.useGlobalFilters(new HttpErrorFilter());
  serveApiDocs(app);
  if (env.MCP_AGGREGATOR_CONSOLE) serveConsole(adapter.getInstance(), consoleFolder);
  return app;
}
