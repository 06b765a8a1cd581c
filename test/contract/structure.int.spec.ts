import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../support/env.js';

const check = (folder: string): Promise<{ code: unknown; output: string }> =>
  promisify(execFile)(process.execPath, ['scripts/check-structure.mjs', folder]).then(
    ({ stdout }) => ({ code: 0, output: stdout }),
    (error: { code: unknown; stderr: string }) => ({ code: error.code, output: error.stderr }),
  );

/** A lib with an event, the code that publishes it and its listener. */
const WHOLE: Readonly<Record<string, string>> = {
  'events/src/a.events.ts': 'export class Moved {}',
  'a/src/move.command.ts': 'signals.tell(new Moved());',
  'a/src/follow.on-moved.ts': '@EventsHandler(Moved) class Follow {}',
};

describe('npm run structure', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;

  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  async function checkLibs(
    files: Readonly<Record<string, string>>,
  ): Promise<{ code: unknown; output: string }> {
    for (const [path, source] of Object.entries(files)) {
      const file = join(folder.path, path.startsWith('/') ? path : `libs/${path}`);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, source);
    }
    return check(folder.path);
  }

  it('passes on this repository', async () => {
    expect(await check(process.cwd())).toMatchObject({ code: 0 });
  });

  it('passes an event with code that publishes it and a listener', async () => {
    expect(await checkLibs(WHOLE)).toMatchObject({ code: 0 });
  });

  it.each([
    ['another lib', 'b/src/b.ts', "import { type Used as Mine, used } from '@app/a';"],
    ['an app', '/apps/x/src/x.ts', "import {\n  used,\n  type Used,\n} from '@app/a';"],
    ['a test', '/test/flow/a.e2e-spec.ts', "const { used, Used } = await import('@app/a');"],
  ])('passes exports that %s imports', async (_, path, source) => {
    const index = "export { used } from './a.js';\nexport type { Inner as Used } from './b.js';";
    const files = { ...WHOLE, 'a/src/index.ts': index, [path]: source };
    expect(await checkLibs(files)).toMatchObject({ code: 0 });
  });

  it.each([
    ['an event that no lib publishes', { 'a/src/move.command.ts': '// new Moved()' }, 'publishes'],
    ['an event without a listener', { 'a/src/follow.on-moved.ts': '' }, 'listens to Moved'],
    ['a listener in another file', { 'a/src/b.ts': 'signals.hear(Moved, f)' }, 'a/src/b.ts'],
    ['a listener to replicas in another file', { 'a/src/b.ts': 'this.replicas.hear(f)' }, 'b.ts'],
    [
      'a class with the name of another',
      { 'a/src/b.ts': 'export class Twice {}', 'b/src/c.ts': 'export interface Twice {}' },
      'Twice: names two things, in libs/a/src/b.ts and libs/b/src/c.ts',
    ],
    ['a file with the name of another', { 'a/src/b.ts': '', 'b/src/b.ts': '' }, 'b.ts: names two'],
    [
      'an export that only its own lib imports',
      {
        'a/src/index.ts': "export { type Used, dead } from './a.js';",
        'a/src/b.ts': "import { dead } from '@app/a';",
        'b/src/c.ts': "import { type Used } from '@app/a';",
      },
      'libs/a/src/index.ts: exports dead, which no other lib, app or test imports',
    ],
    [
      'a folder with more than twenty files',
      Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`b/src/c/f${i}.ts`, ''])),
      'libs/b/src/c: 21 files',
    ],
  ])('fails on %s', async (_, files, said) => {
    const { code, output } = await checkLibs({ ...WHOLE, ...files });
    expect(code).toBe(1);
    expect(output).toContain(said);
  });
});
