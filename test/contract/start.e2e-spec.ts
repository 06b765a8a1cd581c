import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { killServices, spawnRefused, spawnService } from '../support/service.js';

describe('starting the built service', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(async () => {
    killServices();
    await folder.remove();
  });

  it('is refused where other machines could reach it without a token', async () => {
    const secret = 'postgres://user:secret-password@db.example.com/x';
    const { code, output } = await spawnRefused(folder.path, {
      MCP_AGGREGATOR_HOST: '0.0.0.0',
      DATABASE_URL: secret,
    });
    expect(code).toBe(1);
    expect(output.trim().split('\n')).toEqual([
      'The configuration has 2 problems:',
      expect.stringMatching(/^ {2}- MCP_CREDENTIAL_KEY is required with DATABASE_URL/),
      expect.stringMatching(/^ {2}- MCP_AGGREGATOR_HOST is reachable from other machines/),
    ]);
  });

  it('shows a new admin token once, with what to do with it, and never logs it', async () => {
    const first = await spawnService(folder.path);
    const token = (await readFile(join(folder.path, 'admin-token'), 'utf8')).trim();
    expect((await stat(join(folder.path, 'admin-token'))).mode & 0o777).toBe(0o600);
    const audit = await send(first.url, '/api/v1/aggregator/audit', { token });
    expect(audit.status).toBe(200);
    await eventually(() => expect(first.output()).toContain('"mcpServers"'));
    await first.stop();

    const second = await spawnService(folder.path);
    expect((await send(second.url, '/api/v1/aggregator/audit', { token })).status).toBe(200);
    await second.stop();

    const [logged, shown] = [/^\{"level".*$/gm, /^(?!\{"level").*$/gm].map(
      (pattern) => first.output().match(pattern)?.join('\n') ?? '',
    );
    expect(shown?.split(token)).toHaveLength(2);
    expect(logged).toContain(join(folder.path, 'admin-token'));
    expect(logged).not.toContain(token);
    expect(second.output()).not.toContain(token);
  }, 60_000);
});
