import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/env.js';
import { type Answer, send } from '../support/http.js';

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const PAGE = '<!doctype html><title>Switchboard</title>';
const SCRIPT = '/console/assets/index-4fe2a1b9.js';

describe('the console of a service', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: TestApp | undefined;

  beforeAll(async () => {
    folder = await temporaryFolder();
    await mkdir(join(folder.path, 'assets'));
    await writeFile(join(folder.path, 'index.html'), PAGE);
    await writeFile(join(folder.path, 'assets/index-4fe2a1b9.js'), 'console.log(1)');
  });
  afterAll(() => folder.remove());
  afterEach(() => service?.close());

  const start = async (settings: Record<string, string> = {}): Promise<TestApp> => {
    service = await startApp(settings, undefined, folder.path);
    return service;
  };

  it('is open to everyone, with the headers of every answer and a policy of its own', async () => {
    const { url } = await start();
    const page = await send(url, '/console/', { headers: html });
    expect([page.status, page.text]).toEqual([200, PAGE]);
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'referrer-policy': 'no-referrer',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    const policy = page.headers['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'self'; script-src 'self';");
    expect(policy).toContain("frame-ancestors 'none'");
    const health = await send(url, '/health');
    expect(health.headers['content-security-policy']).toContain("default-src 'none'");
    expect((await send(url, SCRIPT)).status).toBe(200);
    expect((await send(url, '/console/servers/github', { headers: html })).text).toBe(PAGE);
  });

  it('does not answer under a foreign name', async () => {
    const { url } = await start();
    for (const path of ['/console/', SCRIPT]) {
      const answer = await send(url, path, { headers: { ...html, host: 'evil.example.com' } });
      expect(answer.status).toBe(403);
    }
  });

  it('is where a browser is led to; programs at the same address are answered as before', async () => {
    const { url, token } = await start();
    const led = await send(url, '/', { headers: html });
    expect([led.status, led.headers['location']]).toEqual([302, '/console/']);
    const statuses = async (...asked: Promise<Answer>[]): Promise<number[]> =>
      (await Promise.all(asked)).map(({ status }) => status);
    expect(
      await statuses(
        send(url, '/'),
        send(url, '/', { token }),
        send(url, '/', { method: 'POST', headers: html, body: '{}' }),
        send(url, '/other', { headers: html }),
        send(url, '/console/', { method: 'POST', headers: html, body: '{}' }),
      ),
    ).toEqual([401, 404, 401, 401, 401]);
  });

  it('costs no requests of the rate limit', async () => {
    const { url, token } = await start({ MCP_AGGREGATOR_RATE_LIMIT: '2' });
    for (let i = 0; i < 5; i++) expect((await send(url, SCRIPT)).status).toBe(200);
    expect((await send(url, '/metrics', { token })).status).toBe(200);
  });

  it('is off with MCP_AGGREGATOR_CONSOLE=false, like any unknown path', async () => {
    const { url, token } = await start({ MCP_AGGREGATOR_CONSOLE: 'false' });
    for (const path of ['/', '/console', '/console/', SCRIPT]) {
      expect((await send(url, path, { headers: html })).status).toBe(401);
      expect((await send(url, path, { headers: html, token })).status).toBe(404);
    }
  });
});
