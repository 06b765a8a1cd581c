import type { TokenScope } from '@app/platform';
import type { TestApp } from './app.js';
import { send } from './http.js';

export interface OpenApi {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>;
  readonly components: {
    readonly schemas: Readonly<
      Record<string, { readonly properties?: Readonly<Record<string, OpenApiProperty>> }>
    >;
  };
}

interface OpenApiProperty {
  readonly type?: string;
  readonly allOf?: readonly object[];
  readonly additionalProperties?: unknown;
}

/** By content type. */
export type OpenApiBody = Readonly<Record<string, { readonly schema?: object }>>;

interface OpenApiOperation {
  readonly operationId?: string;
  readonly 'x-required-scope'?: TokenScope;
  readonly responses: Readonly<Record<string, { readonly content?: OpenApiBody }>>;
}

export interface Operation {
  readonly method: string;
  /** With `{id}` for parameters. */
  readonly path: string;
  /** Undefined for public routes. */
  readonly scope: TokenScope | undefined;
}

export async function readOpenApi(service: TestApp): Promise<OpenApi> {
  const answer = await send(service.url, '/docs/openapi.json', { token: service.token });
  expect(answer.status).toBe(200);
  return answer.body as OpenApi;
}

/** Every route of the API description. */
export function operationsOf(document: OpenApi): Operation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      scope: operation['x-required-scope'],
    })),
  );
}
