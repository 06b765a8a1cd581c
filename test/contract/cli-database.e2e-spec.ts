import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { migrations } from '../../migrations/index.js';
import { program } from '../support/command-line.js';
import { engines } from '../support/database.js';
import { PATIENCE, temporaryFolder } from '../support/env.js';
import { createDatabase } from '../support/postgres.js';
import { type Ran, run } from '../support/run.js';
import { unpackFolder } from '../support/version-010.js';

const [first = '', second = ''] = migrations.map(({ name }) => name).toReversed();

describe('switchboard for the database of its settings', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  function local(args: string, settings: Record<string, string>): Promise<Ran> {
    return run(process.execPath, [program, ...args.split(' ')], {
      cwd: folder.path,
      env: {
        PATH: process.env['PATH'],
        MCP_AGGREGATOR_DATA_DIR: folder.path,
        ...PATIENCE,
        ...settings,
      },
    });
  }

  it.each(engines)('applies migrations to %s, and takes back as many as wanted', async (engine) => {
    const settings: Record<string, string> =
      engine === 'PGlite'
        ? {}
        : { DATABASE_URL: await createDatabase(), MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only' };
    const said = async (args: string): Promise<string[]> => {
      const { code, stdout, stderr } = await local(args, settings);
      expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
      return stdout.trimEnd().split('\n');
    };
    // The embedded database begins as the migrated one of the build.
    await said('migrate');
    expect(await said('migrate')).toEqual(['nothing is applied']);
    expect(await said('migrate revert --count 2')).toEqual([
      `reverted ${first}`,
      `reverted ${second}`,
    ]);
    expect(await said('migrate run')).toEqual([`applied ${second}`, `applied ${first}`]);
    expect(await said('migrate revert')).toEqual([`reverted ${first}`]);
  });

  it('encrypts no credentials of a database that has other migrations, and applies none', async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
    };
    expect(await local('credentials rotate', settings)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('switchboard migrate'),
    });
    expect(await local('migrate', settings)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`applied ${first}`),
    });
    expect(await local('credentials rotate', settings)).toMatchObject({ code: 0 });
    const client = new pg.Client({ connectionString: settings.DATABASE_URL });
    await client.connect();
    const { rows } = await client.query('SELECT term::int AS term FROM mcp.leader_lease');
    await client.end();
    // Nothing has led.
    expect(rows).toEqual([{ term: 0 }]);
  });

  it('encrypts credentials with a new key', async () => {
    unpackFolder(folder.path);
    const former = readFileSync(join(folder.path, 'credential-key'), 'utf8').trim();
    const keys = {
      MCP_CREDENTIAL_KEY: 'the-new-key-of-this-test',
      MCP_CREDENTIAL_KEY_PREVIOUS: former,
    };
    expect(await local('migrate', keys)).toMatchObject({ code: 0 });
    expect(await local('credentials rotate', keys)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('credentials of 4 servers'),
    });
    expect(await local('credentials rotate', { MCP_CREDENTIAL_KEY: former })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('MCP_CREDENTIAL_KEY is not the key'),
    });
  });
});
