import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { migrations } from '../../../../../migrations/index.js';
import { allEngines } from '../../../../../test/support/database.js';
import { temporaryFolder, testEnv } from '../../../../../test/support/env.js';
import { createDatabase } from '../../../../../test/support/postgres.js';
import type { Env } from '../../config/env.js';
import { migrateOnce } from '../migrate-once.js';
import { openOnce } from '../open-once.js';
import { backupOnce } from './backup-once.js';
import { restoreOnce } from './restore-once.js';

const NOW = new Date('2026-11-20T12:00:00.000Z');

describe.each(allEngines)('a restore that replaces a database of %s', (engine) => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Env;
  let file: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    const dataDir = join(folder.path, 'data');
    env = testEnv(
      dataDir,
      engine === 'PGlite'
        ? {}
        : {
            DATABASE_URL: await createDatabase({ version: engine }),
            MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
          },
    );
    file = join(folder.path, 'backup.jsonl.gz');
    await migrateOnce(env, migrations, 'run');
    await query(`INSERT INTO mcp.settings (key, value) VALUES ('state', '"backed up"')`);
    await backupOnce(env, file);
    await query(`UPDATE mcp.settings SET value = '"newer"' WHERE key = 'state'`);
  });
  afterEach(() => folder.remove());

  const query = (sql: string): Promise<unknown> =>
    openOnce(env, [], ({ direct }) => direct.query<unknown>(sql));
  const state = (schema = 'mcp'): Promise<unknown> =>
    query(`SELECT value FROM ${schema}.settings WHERE key = 'state'`);
  const restore = () => restoreOnce(env, migrations, { file, mayReplace: true, now: NOW });
  const spoil = (change: (lines: string) => string): void =>
    writeFileSync(file, gzipSync(change(gunzipSync(readFileSync(file)).toString())));

  it('keeps the former one, and says where', async () => {
    const { former } = await restore();
    expect(await state()).toEqual([{ value: 'backed up' }]);
    if (engine === 'PGlite') {
      expect(former).toBe(
        join(env.MCP_AGGREGATOR_DATA_DIR, 'postgres.before-restore-2026-11-20t12-00-00-000z'),
      );
      expect(existsSync(former ?? '')).toBe(true);
    } else {
      const schema = 'mcp_before_restore_2026_11_20t12_00_00_000z';
      expect(former).toBe(`the schema ${schema}`);
      expect(await state(schema)).toEqual([{ value: 'newer' }]);
    }
  });

  it.each([
    [
      'of a newer version',
      (text: string) => text.replace('"migrations":[', '"migrations":["Later",'),
    ],
    [
      'with migrations of no release',
      (text: string) => text.replace(/"migrations":\["[^"]*",/, '"migrations":['),
    ],
    [
      'with a table that is not known',
      (text: string) => text.replace('"table":"views"', '"table":"x"'),
    ],
    [
      'with a row that the table refuses',
      (text: string) => text.replace('"key":"state"', '"key":null'),
    ],
    ['without its end', (text: string) => text.trimEnd().split('\n').slice(0, -1).join('\n')],
  ])('leaves the former rows as they are after a backup %s', async (_, change) => {
    spoil(change);
    await expect(restore()).rejects.toThrow();
    expect(await state()).toEqual([{ value: 'newer' }]);
    const schemas = await query(`SELECT nspname FROM pg_namespace WHERE nspname LIKE 'mcp_%'`);
    expect(schemas).toEqual([]);
    expect(existsSync(join(env.MCP_AGGREGATOR_DATA_DIR, 'restoring'))).toBe(false);
  });
});

describe('a restore of the embedded database', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let env: Env;
  let file: string;
  beforeEach(async () => {
    folder = await temporaryFolder();
    env = testEnv(join(folder.path, 'data'));
    file = join(folder.path, 'backup.jsonl.gz');
    await migrateOnce(env, migrations, 'run');
    await backupOnce(env, file);
  });
  afterEach(() => folder.remove());
  const restore = () => restoreOnce(env, migrations, { file, mayReplace: true, now: NOW });
  const path = (name: string): string => join(env.MCP_AGGREGATOR_DATA_DIR, name);

  it('leaves the former folder where it is when it cannot be moved', async () => {
    writeFileSync(path('postgres/of-the-former'), '');
    mkdirSync(path('postgres.before-restore-2026-11-20t12-00-00-000z/in-the-way'), {
      recursive: true,
    });
    await expect(restore()).rejects.toMatchObject({ code: 'ENOTEMPTY' });
    expect(existsSync(path('postgres/of-the-former'))).toBe(true);
    expect(existsSync(path('restoring'))).toBe(false);
  });

  it('is not disturbed by what a killed one has left', async () => {
    mkdirSync(path('restoring/postgres/half'), { recursive: true });
    expect(await restore()).toMatchObject({ former: expect.stringContaining('before-restore') });
    expect(existsSync(path('postgres/half'))).toBe(false);
    expect(existsSync(path('restoring'))).toBe(false);
  });
});
