import { Logger } from '@nestjs/common';
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseEnv } from '@app/platform';
import { temporaryFolder } from '../../../../test/support/env.js';
import { noRows, tokensOn } from '../../../../test/support/tokens.js';
import { UnusableTokenFile } from '../access.errors.js';
import { adminToken, adminTokenNotice, tokenHash } from './admin-token.js';
import type { Tokens } from './tokens.js';

describe(adminToken.name, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });

  afterEach(() => folder.remove());

  it('creates a file that only its owner can read, and no partial file', async () => {
    const dataDir = join(folder.path, 'data');
    const made = await adminToken(dataDir);
    expect(made).toMatchObject({ isNew: true, isExposed: false });
    expect(made.token.length).toBeGreaterThan(40);
    expect(await readFile(made.file, 'utf8')).toBe(`${made.token}\n`);
    expect((await stat(made.file)).mode & 0o777).toBe(0o600);
    expect(await readdir(dataDir)).toEqual(['admin-token']);
  });

  it('keeps an existing token', async () => {
    const { token } = await adminToken(folder.path);
    expect(await adminToken(folder.path)).toMatchObject({ token, isNew: false, isExposed: false });
  });

  it('creates another token in another folder', async () => {
    const first = await adminToken(join(folder.path, 'a'));
    expect((await adminToken(join(folder.path, 'b'))).token).not.toBe(first.token);
  });

  it('reports that other users can read it', async () => {
    const { file } = await adminToken(folder.path);
    await chmod(file, 0o644);
    expect((await adminToken(folder.path)).isExposed).toBe(true);
  });

  it.each([
    '',
    'short',
    'two words of some length',
    'a word and-a-long-last-word-here',
    'a-long-first-word-here and another',
  ])('refuses %j as a token', async (text) => {
    await writeFile(join(folder.path, 'admin-token'), text);
    await expect(adminToken(folder.path)).rejects.toThrow(UnusableTokenFile);
  });
});

describe(adminTokenNotice.name, () => {
  it('contains a configuration that an MCP client can read', () => {
    const notice = adminTokenNotice('http://127.0.0.1:8081', 'the-token');
    expect(JSON.parse(notice.slice(notice.indexOf('{')))).toEqual({
      mcpServers: {
        switchboard: {
          type: 'http',
          url: 'http://127.0.0.1:8081/mcp',
          headers: { Authorization: 'Bearer the-token' },
        },
      },
    });
  });

  it('begins with the login link, where there is a console', () => {
    const link = 'http://127.0.0.1:8081/console/login#the-code';
    const notice = adminTokenNotice('http://127.0.0.1:8081', 'the-token', link);
    expect(notice.indexOf(link)).toBeGreaterThan(0);
    expect(notice.indexOf(link)).toBeLessThan(notice.indexOf('the-token'));
    expect(adminTokenNotice('http://127.0.0.1:8081', 'the-token')).not.toContain('console');
  });
});

describe('a first start without configured tokens', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let logged: unknown[][];

  beforeEach(async () => {
    folder = await temporaryFolder();
    logged = [];
    const note = (...said: unknown[]): void => void logged.push(said);
    Logger.overrideLogger({ log: note, warn: note, error: note });
  });
  afterEach(async () => {
    Logger.overrideLogger(false);
    await folder.remove();
  });

  async function start(rows = noRows()): Promise<Tokens> {
    const tokens = tokensOn(parseEnv({ MCP_AGGREGATOR_DATA_DIR: folder.path }), rows);
    await tokens.load();
    return tokens;
  }
  const find = (tokens: Tokens, token = '') =>
    tokens.find(Buffer.from(tokenHash(token), 'hex').toString('latin1'));

  it('has a token of an administrator, which is shown once', async () => {
    const rows = noRows();
    const tokens = await start(rows);
    const token = tokens.takeNewToken();
    expect(find(tokens, token)).toEqual({
      name: 'first-start-admin',
      scopes: ['admin'],
      subjects: ['token:first-start-admin'],
      subject: 'token:first-start-admin',
    });
    expect(rows.configured.map(({ name }) => name)).toEqual(['first-start-admin']);
    expect(tokens.takeNewToken()).toBeUndefined();
    const again = await start();
    expect(again.takeNewToken()).toBeUndefined();
    expect(find(again, token)).toBeDefined();
    expect(logged.map(([, event]) => event)).toEqual([
      'access.admin_token_made',
      'access.admin_token_made',
    ]);
    expect(JSON.stringify(logged)).not.toContain(token);
  });

  it('warns when other users can read the token', async () => {
    await start();
    const file = join(folder.path, 'admin-token');
    await chmod(file, 0o644);
    await start();
    expect(logged.at(-1)).toEqual([
      { file, hint: 'other users of this machine can read this file' },
      'access.admin_token_exposed',
      'access',
    ]);
  });
});
