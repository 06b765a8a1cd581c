import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Browser } from '../support/console.js';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const AUDIT = '/api/v1/aggregator/audit';

describe('a first start without any token', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  const running: ServiceProcess[] = [];

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    await stopAll();
    await folder.remove();
  });

  async function start(): Promise<ServiceProcess> {
    const service = await startProcess(folder.path);
    running.push(service);
    return service;
  }

  async function stopAll(): Promise<void> {
    for (const { child, exited } of running.splice(0)) {
      child.kill('SIGTERM');
      await exited;
    }
  }

  it('shows a new admin token once, with what to do with it, and never logs it', async () => {
    const first = await start();
    const { token } = first;
    const file = join(folder.path, 'admin-token');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await send(first.url, AUDIT, { token })).status).toBe(200);
    await eventually(() => expect(first.output()).toContain('"mcpServers"'));
    await stopAll();

    const second = await start();
    expect(second.token).toBe(token);
    expect((await send(second.url, AUDIT, { token })).status).toBe(200);
    await stopAll();

    const lines = first.output().split('\n');
    const logged = lines.filter((line) => line.startsWith('{"level"')).join('\n');
    const shown = lines.filter((line) => !line.startsWith('{"level"')).join('\n');
    expect(shown.split(token)).toHaveLength(2);
    expect(logged).toContain(file);
    expect(logged).not.toContain(token);
    expect(second.output()).not.toContain(token);
  });

  it('shows a link that logs a browser in as the administrator, first and never in the log', async () => {
    const first = await start();
    await eventually(() => expect(first.output()).toContain('"mcpServers"'));
    const [link = '', code = ''] =
      /http:\S+\/console\/login#([\w-]{43})/.exec(first.output()) ?? [];
    expect(link).toBe(`${first.url}/console/login#${code}`);
    const browser = new Browser(first.url);
    expect(await browser.logIn({ code })).toMatchObject({
      status: 200,
      body: { name: 'first-start-admin', scopes: ['read', 'call', 'operate', 'admin'] },
    });
    const lines = first.output().split('\n');
    expect(lines.filter((line) => line.startsWith('{') && line.includes(code))).toEqual([]);
    const shown = lines.filter((line) => !line.startsWith('{"level"')).join('\n');
    expect(shown.indexOf(code)).toBeLessThan(shown.indexOf('mcpServers'));
    await stopAll();
    expect((await start()).output()).not.toContain('/console/login#');
  });
});
