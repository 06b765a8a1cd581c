import { startApp, type TestApp } from '../support/app.js';
import { Browser, OWN_PAGE } from '../support/console.js';
import { send } from '../support/http.js';
import { type Operation, operationsOf, readOpenApi } from '../support/openapi.js';

const UNKNOWN_ID = '550e8400-e29b-41d4-a716-446655440000';
/** Beside the routes of the API description. */
const OTHERS: readonly (readonly [method: string, path: string])[] = [
  ['GET', '/api'],
  ['GET', '/api/v1/no/such/route'],
  ['POST', '/api/v1/no/such/route'],
  ['OPTIONS', '/api/v1/aggregator/servers'],
  ['GET', '/mcp'],
  ['POST', '/mcp'],
  ['DELETE', '/mcp'],
  ['POST', '/mcp/search'],
  ['POST', '/mcp/servers/github'],
  ['GET', '/docs'],
  ['GET', '/docs/openapi.json'],
  ['GET', '/metrics'],
  ['GET', '/no/such/route'],
];

/** `logged out` is a cookie that was valid until its user logged out; the other requests have one that is valid. */
const strangers: readonly (readonly [
  who: string,
  cookie: 'none' | 'invented' | 'logged out' | 'valid',
  headers: Readonly<Record<string, string>>,
])[] = [
  ['a stranger', 'none', {}],
  [
    'a stranger who says to be the console',
    'none',
    { ...OWN_PAGE, 'sec-fetch-site': 'same-origin' },
  ],
  ['an invented cookie', 'invented', { ...OWN_PAGE, 'sec-fetch-site': 'same-origin' }],
  ['a cookie that was logged out', 'logged out', { ...OWN_PAGE, 'sec-fetch-site': 'same-origin' }],
  ['a page on another port of this host', 'valid', { ...OWN_PAGE, 'sec-fetch-site': 'same-site' }],
  ['a page of another site', 'valid', { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' }],
];

describe('every route that is not public', () => {
  let service: TestApp;
  let operations: readonly Operation[];
  const cookies = { none: undefined, invented: '', 'logged out': '', valid: '' };

  beforeAll(async () => {
    service = await startApp();
    operations = operationsOf(await readOpenApi(service)).filter(({ scope }) => scope);
    const browsers = [new Browser(service.url), new Browser(service.url)] as const;
    for (const browser of browsers) {
      expect((await browser.logIn({ token: service.token })).status).toBe(200);
    }
    cookies.valid = String(browsers[0].cookie);
    cookies['logged out'] = String(browsers[1].cookie);
    cookies.invented = cookies.valid.replace(/=.*/, `=${'A'.repeat(43)}`);
    expect((await browsers[1].logOut()).status).toBe(204);
  });
  afterAll(() => service.close());

  const statusOf = async (
    method: string,
    path: string,
    cookie: string | undefined,
    headers: Readonly<Record<string, string>>,
  ): Promise<number> => {
    const { status } = await send(service.url, path, {
      method,
      headers: { ...headers, ...(cookie !== undefined && { cookie }) },
      ...(!['GET', 'HEAD', 'OPTIONS'].includes(method) && { body: '{}' }),
    });
    return status;
  };
  const routes = (): (readonly [string, string])[] => [
    ...operations.map(
      ({ method, path }) => [method, path.replaceAll(/\{[^}]+\}/g, UNKNOWN_ID)] as const,
    ),
    ...OTHERS,
  ];

  it.each(strangers)('answers %s with 401', async (_who, cookie, headers) => {
    expect(operations.length).toBeGreaterThan(50);
    for (const [method, path] of routes()) {
      const status = await statusOf(method, path, cookies[cookie], headers);
      expect([method, path, status]).toEqual([method, path, 401]);
    }
  });

  it('answers a change with 401 when a cookie comes without the mark of the console', async () => {
    for (const [method, path] of routes()) {
      if (method === 'GET') continue;
      const headers = { 'sec-fetch-site': 'same-origin' };
      expect([method, path, await statusOf(method, path, cookies.valid, headers)]).toEqual([
        method,
        path,
        401,
      ]);
    }
  });

  it('answers a page of the console that is logged in', async () => {
    const headers = { ...OWN_PAGE, 'sec-fetch-site': 'same-origin' };
    // The valid cookie is one: otherwise the tests above would show nothing.
    for (const { method, path } of operations) {
      if (method !== 'GET' || path.includes('{') || path.endsWith('/events')) continue;
      expect([401, 403]).not.toContain(await statusOf(method, path, cookies.valid, headers));
    }
  });
});
