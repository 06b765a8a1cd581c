import { Drain, SERVICE_NAME } from '@app/platform';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';

describe('health', () => {
  let service: TestApp;
  beforeAll(async () => {
    // Nothing listens there.
    service = await startApp({ QDRANT_URL: 'http://127.0.0.1:1' });
  });
  afterAll(() => service.close());

  const ask = (path: string) => send(service.url, path);

  it.each(['/health', '/api/v1/aggregator/health'])(
    'answers %s with the body of the contract and the name of the service',
    async (path) => {
      // A check that does not end within its deadline fails, also on a machine that is busy for a moment.
      await eventually(async () => {
        const { status, text } = await ask(path);
        expect([status, text]).toEqual([
          200,
          JSON.stringify({
            status: 'degraded',
            checks: { database: 'ok', qdrant: 'down', sessions: 'ok' },
            servers: { total: 0, connected: 0, error: 0 },
            issues: ['Qdrant does not answer: search is lexical until it does'],
            service: SERVICE_NAME,
          }),
        ]);
      });
    },
  );

  it('answers probes in one word', async () => {
    expect((await ask('/health/live')).text).toBe('{"status":"ok"}');
    expect((await ask('/health/ready')).text).toBe('{"database":{"status":"up"}}');
  });

  it.each(['/health', '/health/live', '/health/ready'])('is never cached: %s', async (path) => {
    expect((await ask(path)).headers['cache-control']).toContain('no-store');
  });

  it('is alive but not ready during the shutdown', async () => {
    service.app.get(Drain).begin();
    const ready = await ask('/health/ready');
    expect([ready.status, ready.headers['retry-after'], ready.body]).toEqual([
      503,
      '5',
      { service: { status: 'down', message: 'the service is stopping' } },
    ]);
    expect((await ask('/health/live')).status).toBe(200);
    expect((await ask('/health')).status).toBe(200);
  });
});
