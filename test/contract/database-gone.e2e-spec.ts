import { startApp, type TestApp } from '../support/app.js';
import { Api } from '../support/api.js';
import { BrokenDatabase, type DatabaseFault } from '../support/database-faults.js';
import { eventually } from '../support/eventually.js';
import { FaultProxy } from '../support/fault-proxy.js';
import { type Answer, send } from '../support/http.js';
import { type Operation, operationsOf, readOpenApi } from '../support/openapi.js';
import { npmServers } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';

const FAULTS = [
  'refuses connections',
  'is silent',
  'hangs in a lock',
  'has a full disk',
  'is read-only',
] as const;
/** Valid bodies, so that the request reaches the database and does not fail in validation. */
const BODIES: Readonly<Record<string, object>> = {
  'POST /api/v1/aggregator/servers': {
    name: 'other',
    transport_type: 'HTTP',
    connection_config: { base_url: 'https://a.example/mcp' },
    auto_connect: false,
  },
  'PATCH /api/v1/aggregator/servers/{id}': { description: 'x' },
  'POST /api/v1/tools/call': { name: 'everything.echo', arguments: { message: 'hi' } },
  'POST /api/v1/search': { query: 'echo' },
  'POST /api/v1/aggregator/query': { query: 'say hello' },
  'POST /api/v1/aggregator/skills': { id: 'a_skill', name: 'A skill', description: 'x' },
  'PUT /api/v1/aggregator/query/rules': { rules: [{ pattern: 'x', servers: ['everything'] }] },
  'PUT /api/v1/aggregator/query/servers/{name}': { tool: 'echo', argument: 'message' },
};
const HEALTH = /\/health(?:\/ready)?$/;
/** Answered from memory. */
const GOES_ON =
  /^(?:POST \/api\/v1\/(?:tools\/call|search|aggregator\/query)|GET .*\/(?:health\/live|clients|aggregator\/tools))$/;

describe('a service whose database', () => {
  let service: TestApp;
  let proxy: FaultProxy;
  let broken: BrokenDatabase;
  let id: string;
  let operations: Operation[];
  beforeAll(async () => {
    const url = await createDatabase();
    proxy = await FaultProxy.before(url);
    service = await startApp({
      DATABASE_URL: proxy.urlOf(url),
      MCP_AGGREGATOR_DATABASE_WAIT: '0.5',
      MCP_AGGREGATOR_HEALTH_INTERVAL: '1',
    });
    broken = await BrokenDatabase.of(url, proxy);
    const { args, command } = npmServers.everything();
    id = await new Api(service).register({
      name: 'everything',
      transport_type: 'STDIO',
      connection_config: { command, args },
    });
    await eventually(async () => expect((await call('hello')).status).toBe(200));
    const settings = { method: 'PUT', path: '/api/v1/aggregator/query/servers/{name}' };
    expect((await ask(settings)).status).toBe(200);
    operations = operationsOf(await readOpenApi(service));
  });
  afterAll(async () => {
    await service.close();
    await broken.close();
    await proxy.close();
  });

  const ask = ({ method, path }: Pick<Operation, 'method' | 'path'>): Promise<Answer> =>
    send(service.url, path.replace('{name}', 'everything').replaceAll(/\{[^}]+\}/g, id), {
      method,
      token: service.token,
      ...(method !== 'GET' && { body: JSON.stringify(BODIES[`${method} ${path}`] ?? {}) }),
    });
  const call = (message: string): Promise<Answer> =>
    send(service.url, '/api/v1/tools/call', {
      method: 'POST',
      token: service.token,
      body: JSON.stringify({ name: 'everything.echo', arguments: { message } }),
    });
  const isReady = (): Promise<void> =>
    eventually(async () => {
      expect((await ask({ method: 'GET', path: '/health/ready' })).status).toBe(200);
      expect((await ask({ method: 'GET', path: '/health' })).status).toBe(200);
      const written = await ask({ method: 'PATCH', path: '/api/v1/aggregator/servers/{id}' });
      expect(written.status).toBe(200);
    });
  const whileBroken = async (
    name: (typeof FAULTS)[number],
    look: (fault: DatabaseFault) => Promise<void>,
  ): Promise<void> => {
    const fault = broken.faults()[name];
    if (!fault) throw new Error(`there is no fault named ${name}`);
    await fault.break();
    try {
      await look(fault);
    } finally {
      await fault.mend();
    }
    await isReady();
  };

  it.each(FAULTS)(
    '%s answers 503 with Retry-After on every route that needs it, and never 500',
    async (name) => {
      await whileBroken(name, async ({ reason, readsToo }) => {
        const refused: string[] = [];
        for (const operation of operations.filter(({ path }) => !HEALTH.test(path))) {
          const route = `${operation.method} ${operation.path}`;
          const { status, headers, body, text } = await ask(operation);
          expect(`${route} ${status}`).not.toMatch(/ 500$/);
          if (GOES_ON.test(route)) expect(`${route} ${status}`).toBe(`${route} 200`);
          if (status !== 503 || !text.includes('DATABASE_UNAVAILABLE')) continue;
          refused.push(route);
          expect(Number(headers['retry-after'])).toBeGreaterThan(0);
          expect(body).toMatchObject({
            detail: expect.stringMatching(/^The /),
            error_code: 'DATABASE_UNAVAILABLE',
            context: { reason: expect.stringMatching(`^${reason}$`) },
          });
          expect(text).not.toMatch(/SELECT|INSERT|mcp\.|127\.0\.0\.1|node_modules/);
        }
        expect(refused).toContain('POST /api/v1/aggregator/servers');
        expect(refused.length).toBeGreaterThan(readsToo ? 20 : 5);
      });
    },
  );

  it.each(FAULTS)(
    '%s is reported on /health and /health/ready, and calls continue',
    async (name) => {
      await whileBroken(name, async () => {
        // A full disk shows only at the first write.
        await ask({ method: 'PATCH', path: '/api/v1/aggregator/servers/{id}' });
        await eventually(async () => {
          const health = await ask({ method: 'GET', path: '/health' });
          const ready = await ask({ method: 'GET', path: '/health/ready' });
          if (name === 'hangs in a lock') {
            // A locked table concerns only the requests that need it.
            expect([health.status, ready.status]).toEqual([200, 200]);
            expect(health.body).toMatchObject({
              status: 'degraded',
              checks: { database: 'ok', sessions: 'unknown' },
              issues: [expect.stringMatching(/table may be locked/)],
            });
          } else {
            expect([health.status, ready.status]).toEqual([503, 503]);
            expect(health.headers['retry-after']).toBeDefined();
            expect(health.body).toMatchObject({
              status: 'unhealthy',
              checks: { database: 'down' },
              issues: [expect.stringMatching(/database/)],
            });
          }
        });
        expect((await ask({ method: 'GET', path: '/health/live' })).status).toBe(200);
        expect((await ask({ method: 'GET', path: '/metrics' })).status).toBe(200);
        for (let i = 0; i < 20; i++) expect((await call(`hello ${i}`)).status).toBe(200);
      });
    },
  );

  it('ends connections answers the next requests as ever', async () => {
    await broken.endConnections();
    await isReady();
  });
});
