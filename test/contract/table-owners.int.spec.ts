import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/env.js';

const check = (folder: string): Promise<{ code: unknown; output: string }> =>
  promisify(execFile)(process.execPath, ['scripts/table-owners.mjs', folder]).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: { code: unknown; stderr: string }) => ({ code: error.code, output: error.stderr }),
  );

describe('npm run tables', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  async function checkLib(lib: string, source: string): Promise<{ code: unknown; output: string }> {
    const sources = join(folder.path, 'libs', lib, 'src');
    await mkdir(sources, { recursive: true });
    await writeFile(join(sources, 'some.store.ts'), source);
    return check(folder.path);
  }

  it('passes on this repository', async () => {
    expect(await check(process.cwd())).toMatchObject({ code: 0 });
  });

  it.each([
    ['an insert', 'query(`INSERT INTO mcp.tools (name) VALUES ($1)`)', 'writes mcp.tools'],
    ['an update', 'query(`WITH a AS (SELECT 1)\n UPDATE mcp.tools t SET name = 1`)', 'writes'],
    ['a delete', "query('delete from  mcp.tools')", 'writes mcp.tools'],
    ['a join', 'query(`SELECT 1 FROM mcp.tool_vectors v\nJOIN mcp.tools t ON true`)', 'reads'],
    ['a list of tables', 'query(`SELECT 1 FROM generate_series(1, 2), mcp.tools`)', 'names'],
    ['a constant', "const TABLE = 'mcp.tools';", 'names mcp.tools'],
    ['an entity', "@Entity({ schema: 'mcp', name: 'tools' })", 'maps mcp.tools'],
  ])('fails on %s that names the table of another lib', async (_, source, said) => {
    const { code, output } = await checkLib('vectors', source);
    expect(code).toBe(1);
    expect(output).toContain('libs/vectors/src/some.store.ts:');
    expect(output).toContain(said);
    expect(output).toContain('belongs to libs/catalogue');
  });

  it('fails on a table that has no owner', async () => {
    const { code, output } = await checkLib('vectors', 'query(`UPDATE mcp.secrets SET a = 1`)');
    expect({ code, output }).toMatchObject({
      code: 1,
      output: expect.stringContaining('no owner'),
    });
  });

  it('passes the owner and comments', async () => {
    expect((await checkLib('catalogue', 'query(`UPDATE mcp.tools SET a = 1`)')).code).toBe(0);
    expect((await checkLib('vectors', '/** After an UPDATE mcp.tools. */')).code).toBe(0);
  });

  it('has an owner for every table of the migrations', async () => {
    const made = await Promise.all(
      (await readdir('migrations')).map((file) => readFile(join('migrations', file), 'utf8')),
    );
    const tables = made.join().matchAll(/CREATE TABLE (?:IF NOT EXISTS )?mcp\.(\w+)/g);
    const script = await readFile('scripts/table-owners.mjs', 'utf8');
    for (const [, table] of tables) expect(script).toContain(`  ${table}: '`);
  });
});
