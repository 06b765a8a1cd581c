import type { INestApplication } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { product } from '@app/platform';

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

/** Serves the document, generated on first request, at `/docs` (a page) and `/docs/openapi.json`. */
export function serveApiDocs(app: NestFastifyApplication): void {
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
