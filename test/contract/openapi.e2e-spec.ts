import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import { type OpenApi, type OpenApiBody, operationsOf, readOpenApi } from '../support/openapi.js';

const UNKNOWN_ID = '550e8400-e29b-41d4-a716-446655440000';
/** All routes without a token (contract R37). */
const PUBLIC =
  /^\/(?:health|api\/v1\/aggregator\/health|\.well-known\/oauth-protected-resource)(?:\/|$)/;
const weaker = { read: undefined, call: 'read', operate: 'call', admin: 'operate' } as const;

const hasSchema = (content: OpenApiBody = {}): boolean =>
  Object.values(content).some(({ schema }) => Object.keys(schema ?? {}).length > 0);

describe('the API description', () => {
  let service: TestApp;
  let document: OpenApi;
  beforeAll(async () => {
    service = await startApp();
    document = await readOpenApi(service);
  });
  afterAll(() => service.close());

  it('says of every route which scope it needs, and only health and OAuth metadata need none', () => {
    const open = operationsOf(document).filter((operation) => operation.scope === undefined);
    expect(open.filter(({ path }) => !PUBLIC.test(path))).toEqual([]);
    expect(operationsOf(document).length - open.length).toBeGreaterThan(15);
  });

  it('shows the error answers of every route that needs a token', () => {
    const bare = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses, 'x-required-scope': scope }]) => scope && !responses['401'])
        .map(([method]) => `${method} ${path}`),
    );
    expect(bare).toEqual([]);
  });

  it('gives every operation an id of its own that can be the name of a method', () => {
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId ?? ''),
    );
    expect(ids.filter((id) => !/^[a-z][A-Za-z]+$/.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('describes the body of every answer, except where there is none', () => {
    const bare = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        Object.entries(responses)
          .filter(([status, { content }]) => status !== '204' && !hasSchema(content))
          .map(([status]) => `${method} ${path} ${status}`),
      ),
    );
    expect(bare).toEqual([]);
  });

  it('leaves open what an object holds only where it says so', () => {
    const open = Object.entries(document.components.schemas).flatMap(
      ([name, { properties = {} }]) =>
        Object.entries(properties)
          .filter(([, { type, allOf, additionalProperties }]) =>
            type === 'object' ? !allOf && !additionalProperties : false,
          )
          .map(([property]) => `${name}.${property}`),
    );
    expect(open).toEqual([]);
  });

  it('is kept by every route: 401 without a token and with a wrong one, 403 with a weaker one', async () => {
    for (const { method, path, scope } of operationsOf(document)) {
      if (!scope) continue;
      const at = path.replaceAll(/\{[^}]+\}/g, UNKNOWN_ID);
      const statusWith = async (token?: string): Promise<{ status: number; code: unknown }> => {
        const { status, body } = await send(service.url, at, {
          method,
          ...(token !== undefined && { token }),
          ...(method !== 'GET' && { body: '{}' }),
        });
        return { status, code: (body as { error_code?: unknown } | undefined)?.error_code };
      };
      const route = `${method} ${path}`;
      expect({ route, ...(await statusWith()) }).toEqual({
        route,
        status: 401,
        code: 'UNAUTHORIZED',
      });
      const under = weaker[scope];
      if (under) {
        expect({ route, ...(await statusWith(service.tokens[under])) }).toEqual({
          route,
          status: 403,
          code: 'FORBIDDEN',
        });
      }
      expect([401, 403]).not.toContain((await statusWith(service.tokens[scope])).status);
    }
  });

  it('is kept by every route: a wrong token is 401, and too many of them are 429', async () => {
    const statuses = new Set<number>();
    for (const { method, path, scope } of operationsOf(document)) {
      if (!scope) continue;
      const at = path.replaceAll(/\{[^}]+\}/g, UNKNOWN_ID);
      const { status } = await send(service.url, at, {
        method,
        token: 'wrong-token-of-a-caller',
        ...(method !== 'GET' && { body: '{}' }),
      });
      statuses.add(status);
    }
    expect([...statuses].filter((status) => status !== 401 && status !== 429)).toEqual([]);
    expect(statuses).toContain(401);
  });
});
