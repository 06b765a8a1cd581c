import { startApp, type TestApp } from '../support/app.js';
import { type Answer, send } from '../support/http.js';
import { operationsOf, readOpenApi } from '../support/openapi.js';

/** Of no server and no row, but of the form that each route expects. */
const ID = '550e8400-e29b-41d4-a716-446655440000';
const unknown = (place: string) => ({
  loc: [place, 'surprise'],
  msg: 'Unknown field',
  type: 'extra_forbidden',
});

describe('what a route does not know', () => {
  let service: TestApp;
  let operations: { method: string; path: string }[];
  beforeAll(async () => {
    service = await startApp({ MCP_AGGREGATOR_RATE_LIMIT: '0' });
    operations = operationsOf(await readOpenApi(service)).map(({ method, path }) => {
      const id = /\/(tools|skill-suggestions|approvals)\//.test(path) ? '1' : ID;
      return { method, path: path.replace('{client}', 'cursor').replaceAll(/\{[^}]+\}/g, id) };
    });
  });
  afterAll(() => service.close());

  const ask = (method: string, path: string, body?: string) =>
    send(service.url, path, { method, token: service.token, ...(body !== undefined && { body }) });

  it('is refused by name in the query of every route', async () => {
    expect(operations.length).toBeGreaterThan(40);
    for (const { method, path } of operations) {
      const what = `${method} ${path}`;
      const { status, body } = await ask(method, `${path}?surprise=1`);
      expect({ what, status, body }).toEqual({
        what,
        status: 422,
        body: {
          detail: expect.arrayContaining([unknown('query')]),
          error_code: 'VALIDATION_ERROR',
        },
      });
    }
  });

  it('is refused by name in the body of every route, also of those that take none', async () => {
    for (const { method, path } of operations.filter((one) => one.method !== 'GET')) {
      const what = `${method} ${path}`;
      const { status, body } = await ask(method, path, '{"surprise":1}');
      expect({ what, status, body }).toEqual({
        what,
        status: 422,
        body: {
          detail: expect.arrayContaining([unknown('body')]),
          error_code: 'VALIDATION_ERROR',
        },
      });
    }
  });

  it.each([
    ['/api/v1/aggregator/servers?limit=1&surprise=', ['surprise']],
    [`/api/v1/aggregator/servers/${ID}?a=1&b=2&a=3`, ['a', 'b']],
    [`/api/v1/aggregator/servers/${ID}?limit[]=1&__proto__[x]=1`, ['limit[]', '__proto__[x]']],
    ['/health?limit=1', ['limit']],
    ['/metrics?name%5B%5D=up', ['name[]']],
  ])('is named as it was sent: %s', async (path, names) => {
    expect(namesIn(await ask('GET', path))).toEqual(names);
  });

  it.each(['[1]', '"text"', '7', 'true'])(
    'may not be %s for a route without a body',
    async (text) => {
      const { status, body } = await ask('POST', `/api/v1/aggregator/servers/${ID}/connect`, text);
      expect([status, body]).toEqual([
        422,
        {
          detail: [{ loc: ['body'], msg: 'Input should be a JSON object', type: 'type_error' }],
          error_code: 'VALIDATION_ERROR',
        },
      ]);
    },
  );

  it.each(['', '{}', 'null'])('does not mean a body of "%s"', async (text) => {
    const answer = await ask('POST', `/api/v1/aggregator/servers/${ID}/connect`, text);
    expect(answer.body).toMatchObject({ error_code: 'SERVER_NOT_FOUND' });
  });

  it('is ignored where an authorization server adds parameters of its own', async () => {
    const path = '/oauth/callback?state=x&code=y&session_state=z';
    expect((await ask('GET', path)).headers['content-type']).toContain('text/html');
  });
});

function namesIn({ body }: Answer): unknown {
  const { detail } = body as { detail: { loc: string[] }[] };
  return detail.map(({ loc }) => loc[1]);
}
