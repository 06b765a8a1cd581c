import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import { type OpenApi, operationsOf, readOpenApi } from '../support/openapi.js';

const NOBODY = '550e8400-e29b-41d4-a716-446655440000';
/** All that answers without a token (RULINGS R37). */
const PUBLIC =
  /^\/(?:health|api\/v1\/aggregator\/health|\.well-known\/oauth-protected-resource)(?:\/|$)/;
const weaker = { read: undefined, call: 'read', admin: 'call' } as const;

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

  it('is kept by every route: 401 without a token and with a wrong one, 403 with a weaker one', async () => {
    for (const { method, path, scope } of operationsOf(document)) {
      if (!scope) continue;
      const at = path.replaceAll(/\{[^}]+\}/g, NOBODY);
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
      const at = path.replaceAll(/\{[^}]+\}/g, NOBODY);
      const { status } = await send(service.url, at, {
        method,
        token: 'wrong-token-of-somebody',
        ...(method !== 'GET' && { body: '{}' }),
      });
      statuses.add(status);
    }
    expect([...statuses].filter((status) => status !== 401 && status !== 429)).toEqual([]);
    expect(statuses).toContain(401);
  });
});
