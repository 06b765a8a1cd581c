import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { startApp, type TestApp } from '../support/app.js';
import { temporaryFolder } from '../support/env.js';
import { readOpenApi } from '../support/openapi.js';
import { run } from '../support/run.js';

const library = join(process.cwd(), 'libs/api-client');
const bin = join(process.cwd(), 'node_modules/.bin');

/** A program outside of the repository: installs the package, compiles against its types, and calls the service. */
const PROGRAM = `
import { connect, type ServerView } from 'switchboard-api-client';

const [, , url = '', token] = process.argv;
const switchboard = connect({ url, token });

const registered = await switchboard.registerServer({
  body: { name: 'elsewhere', transport_type: 'STDIO', connection_config: { command: 'true' }, auto_connect: false },
  throwOnError: true,
});
const { data } = await switchboard.listServers({ query: { limit: 10 } });
const names: string[] = (data?.servers ?? []).map((server: ServerView) => server.name);

const twice = await switchboard.registerServer({
  body: { name: 'elsewhere', transport_type: 'STDIO', connection_config: { command: 'true' } },
});
const reason: string | undefined = twice.error?.error_code;

const { response } = await connect({ url }).listServers();

// @ts-expect-error No such transport.
const wrong = () => switchboard.registerServer({ body: { name: 'x', transport_type: 'PIGEON', connection_config: {} } });

console.log(JSON.stringify({ id: registered.data.id, names, reason, unauthorized: response?.status }));
export { wrong };
`;

describe('the API client', () => {
  let service: TestApp;
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeAll(async () => {
    service = await startApp();
    folder = await temporaryFolder();
  });
  afterAll(async () => {
    await service.close();
    await folder.remove();
  });

  it('matches the API; `npm run api-client` updates it', async () => {
    const document: unknown = JSON.parse(await readFile(join(library, 'openapi.json'), 'utf8'));
    expect(document).toEqual(await readOpenApi(service));
  });

  it('matches the output of its generator; `npm run api-client` updates it', async () => {
    const fresh = join(folder.path, 'generated');
    const { code, stderr } = await run(process.execPath, [join(library, 'generate.mjs'), fresh]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await contentsOf(join(library, 'src/generated'))).toEqual(await contentsOf(fresh));
  });

  it('has the version of the service, and depends on nothing', async () => {
    const text = await readFile(join(library, 'package.json'), 'utf8');
    const root = await readFile('package.json', 'utf8');
    const { version } = JSON.parse(root) as { version: string };
    expect(JSON.parse(text)).toMatchObject({ version });
    expect(Object.keys(JSON.parse(text) as object)).not.toContain('dependencies');
  });

  it('is a package that programs outside of the repository compile and run with', async () => {
    const project = join(folder.path, 'project');
    // Packed outside the repository, whose files other tests read at the same time.
    const copy = join(folder.path, 'api-client');
    await cp(library, copy, { recursive: true });
    await mkdir(project);
    const env = { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH']}` };
    const pack = ['pack', '--pack-destination', project];
    expect(await run('npm', pack, { cwd: copy, env })).toMatchObject({ code: 0 });
    await writeFile(join(project, 'package.json'), '{"type":"module","private":true}');
    const tarball = (await readdir(project)).find((name) => name.endsWith('.tgz')) ?? '';
    const install = ['install', '--offline', '--no-audit', '--no-fund', `./${tarball}`];
    expect(await run('npm', install, { cwd: project })).toMatchObject({ code: 0 });

    await writeFile(join(project, 'program.mts'), PROGRAM);
    await writeFile(join(project, 'globals.d.ts'), 'declare const process: { argv: string[] };');
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess'];
    const target = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2022,dom'];
    const files = ['program.mts', 'globals.d.ts'];
    const compiled = await run(join(bin, 'tsc'), [...strict, ...target, ...files], {
      cwd: project,
    });
    expect(compiled).toMatchObject({ code: 0, stdout: '' });

    const ran = await run(process.execPath, ['program.mjs', service.url, service.token], {
      cwd: project,
    });
    expect(ran.stderr).toBe('');
    expect(JSON.parse(ran.stdout)).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      names: ['elsewhere'],
      reason: 'SERVER_ALREADY_EXISTS',
      unauthorized: 401,
    });
  });
});

/** The texts of all files below a folder, by path. */
async function contentsOf(path: string): Promise<Record<string, string>> {
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const texts = await Promise.all(
    files.map(async ({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file.slice(path.length), await readFile(file, 'utf8')] as const;
    }),
  );
  return Object.fromEntries(texts);
}
