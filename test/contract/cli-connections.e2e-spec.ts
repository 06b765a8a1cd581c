import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { type CommandLine, commandLine } from '../support/command-line.js';

const KEY = 'a-key-in-a-file-93jf84';

describe('own connections on the command line', () => {
  let service: TestApp;
  let cli: CommandLine;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'switchboard-keys-'));
    service = await startApp();
    cli = commandLine(service);
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  const register = (name: string, credentials: string) =>
    new Api(service).register({
      name,
      transport_type: 'HTTP',
      credentials,
      connection_config: {
        base_url: 'http://127.0.0.1:9/mcp',
        ...(credentials === 'per_user' && { headers: { 'x-key': '${user.API_KEY}' } }),
      },
      auto_connect: false,
    });

  it('are listed, made by an address or by keys in a file, and ended', async () => {
    expect(await cli.run('connections')).toMatchObject({
      stdout: 'No server takes your own credentials.\n',
    });
    await register('wiki', 'per_user');
    await register('everyone', 'shared');
    const listed = await cli.run('connections', 'list');
    expect(listed.stdout).toMatch(/wiki +none +API_KEY/);
    expect(listed.stdout).not.toContain('everyone');

    const link = await cli.json('connections', 'connect', 'wiki');
    expect(link['url']).toContain(`${service.url}/connect/wiki/`);

    const file = join(folder, 'keys.json');
    await writeFile(file, JSON.stringify({ API_KEY: KEY }));
    const made = await cli.run('connections', 'connect', 'wiki', '--keys', file);
    expect(made).toMatchObject({ code: 0, stdout: expect.stringContaining('Connected: wiki') });
    expect((await cli.run('connections')).stdout).toMatch(/wiki +connected/);

    expect(await cli.run('connections', 'disconnect', 'wiki')).toMatchObject({ code: 0 });
    expect((await cli.run('connections')).stdout).toMatch(/wiki +none/);
    expect(await cli.run('connections', 'disconnect', 'wiki')).not.toMatchObject({ code: 0 });
  });

  it('are refused for a server that takes none, and for keys that are no texts', async () => {
    expect(await cli.run('connections', 'connect', 'everyone')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No server everyone takes your own credentials'),
    });
    const file = join(folder, 'wrong.json');
    await writeFile(file, JSON.stringify({ API_KEY: 4 }));
    expect(await cli.run('connections', 'connect', 'wiki', '--keys', file)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('API_KEY must be a text'),
    });
  });
});
