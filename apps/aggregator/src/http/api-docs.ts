import type { INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import fastifyStatic from '@fastify/static';
import { product } from '@app/platform';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';

/**
 * The OpenAPI document of the controllers. Method names become operation ids, and so the methods of `libs/api-client`.
 */
export function describeApi(app: INestApplication): OpenAPIObject {
  const description = new DocumentBuilder()
    .setTitle('Switchboard')
    .setDescription(
      'MCP server aggregator: register MCP servers, find their tools by meaning, call them.',
    )
    .setVersion(product.version)
    .setLicense('Apache-2.0', 'https://www.apache.org/licenses/LICENSE-2.0')
    .addBearerAuth()
    .build();
  return SwaggerModule.createDocument(app, description, {
    operationIdFactory: (_controller, method) => operationId(method),
  });
}

/**
 * Nest imports @fastify/static from its own folder. npm installs the version of this package elsewhere, because the
 * Fastify adapter of Nest asks for one that Node 20 does not run.
 */
function serveAssetsOfDocs(): void {
  const ofSwagger = createRequire(createRequire(import.meta.url).resolve('@nestjs/swagger'));
  const root = dirname(ofSwagger.resolve('swagger-ui-dist/package.json'));
  Reflect.set(SwaggerModule, 'serveStatic', (prefix: string, app: NestFastifyApplication) => {
    const fastify = app.getHttpAdapter().getInstance();
    void fastify.register(fastifyStatic, { root, prefix, decorateReply: false });
  });
}

/** Serves the document, generated on first request, at `/docs` (a page) and `/docs/openapi.json`. */
export function serveApiDocs(app: NestFastifyApplication): void {
  serveAssetsOfDocs();
  SwaggerModule.setup('docs', app, () => describeApi(app), {
    jsonDocumentUrl: 'docs/openapi.json',
    yamlDocumentUrl: 'docs/openapi.yaml',
    customSiteTitle: 'Switchboard API',
  });
}

/** A controller with two paths has two operations per method: `live[0]` and `live[1]`. */
function operationId(method: string): string {
  return method.replace('[0]', '').replace(/\[\d+\]$/, 'Alias');
}
