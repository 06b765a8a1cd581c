import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { type ServiceProcess, startProcess } from '../support/service-process.js';

const API = '/api/v1/aggregator';

describe('the configuration file', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let service: ServiceProcess;
  let file: string;

  beforeAll(async () => {
    folder = await temporaryFolder();
    file = join(folder.path, 'servers.json');
    write({ mcpServers: { first: items('first') } });
    service = await startProcess(join(folder.path, 'data'), { MCP_AGGREGATOR_CONFIG: file });
  });
  afterAll(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
    await folder.remove();
  });

  const items = (name: string): object => ({
    command: process.execPath,
    args: [fixture('items.mjs'), name],
  });
  const write = (content: object): void => writeFileSync(file, JSON.stringify(content));
  const namesOf = async (path: string, list: string, key: string): Promise<unknown[]> => {
    const { body } = await send(service.url, `${API}${path}`, { token: service.token });
    return (body as Record<string, Record<string, unknown>[]>)[list]?.map((one) => one[key]) ?? [];
  };
  const reload = () => send(service.url, `${API}/reload`, { method: 'POST', token: service.token });

  it('is read again by REST: new servers are registered, and views applied', async () => {
    write({
      mcpServers: { first: items('first'), second: items('second'), third: {} },
      views: { reading: { rules: [{ annotation: 'read_only' }] } },
    });
    expect(await reload()).toMatchObject({
      status: 200,
      body: {
        registered: ['second'],
        known: ['first'],
        skipped: [{ key: 'third', reason: expect.any(String) }],
      },
    });
    expect(await namesOf('/servers', 'servers', 'name')).toEqual(['first', 'second']);
    expect(await namesOf('/views', 'views', 'slug')).toContain('reading');
  });

  it('is read again on SIGHUP, and the service keeps serving', async () => {
    write({ mcpServers: { fourth: items('fourth') } });
    service.child.kill('SIGHUP');
    await eventually(async () =>
      expect(await namesOf('/servers', 'servers', 'name')).toContain('fourth'),
    );
    await eventually(() => expect(service.output()).toContain('"configuration.reloaded"'));
  });

  it('changes nothing when a part of it cannot be used', async () => {
    const before = await namesOf('/servers', 'servers', 'name');
    write({ mcpServers: { never: items('never') }, views: { never: { rules: 'none' } } });
    expect(await reload()).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining('views') },
    });
    write({ mcpServers: { never: items('never') }, aggregation: { rules: 'none' } });
    expect(await reload()).toMatchObject({ status: 400 });
    expect(await namesOf('/servers', 'servers', 'name')).toEqual(before);
  });

  it('changes nothing when it cannot be read', async () => {
    const before = await namesOf('/servers', 'servers', 'name');
    writeFileSync(file, '{ broken');
    expect(await reload()).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining(file) },
    });
    service.child.kill('SIGHUP');
    await eventually(() => expect(service.output()).toContain('"configuration.not_reloaded"'));
    expect(await namesOf('/servers', 'servers', 'name')).toEqual(before);
  });
});

describe('a service without a configuration file', () => {
  it('refuses to read it again, and says what to do', async () => {
    const folder = await temporaryFolder();
    const service = await startProcess(folder.path);
    const { url, token } = service;
    expect(await send(url, `${API}/reload`, { method: 'POST', token })).toMatchObject({
      status: 409,
      body: {
        error_code: 'NO_CONFIGURATION_FILE',
        detail: expect.stringContaining('MCP_AGGREGATOR_CONFIG'),
      },
    });
    service.child.kill('SIGTERM');
    await service.exited;
    await folder.remove();
  });
});
