import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { temporaryFolder } from '../support/env.js';

const SCRIPT = join(process.cwd(), 'scripts/build-console.mjs');

describe('the build of the console', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    write('apps/console/vite.config.mjs', 'export default { root: import.meta.dirname };');
    write('apps/console/index.html', '<script type="module" src="/main.js"></script>');
    write('apps/console/main.js', `console.log(${JSON.stringify('a page '.repeat(400))});`);
    write('libs/api-client/src/index.ts', 'export {};');
    write('package-lock.json', '{}');
  });
  afterEach(() => folder.remove());

  const at = (path: string): string => join(folder.path, path);
  function write(path: string, text: string): void {
    mkdirSync(join(at(path), '..'), { recursive: true });
    writeFileSync(at(path), text);
  }
  function build(): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT], {
      cwd: folder.path,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'] },
    });
    expect([status, stderr]).toEqual([0, '']);
    return stdout;
  }
  const assets = (): string[] => readdirSync(at('dist/console/assets')).sort();

  it('writes pages whose files have hashes in their names, each also compressed', () => {
    expect(build()).toBe('built the console\n');
    const [script = '', ...compressed] = assets();
    expect(script).toMatch(/^index-[\w-]{8}\.js$/);
    expect(compressed).toEqual([`${script}.br`, `${script}.gz`]);
    const file = at(`dist/console/assets/${script}`);
    const content = readFileSync(file, 'utf8');
    expect(content).toContain('a page a page');
    expect(brotliDecompressSync(readFileSync(`${file}.br`)).toString()).toBe(content);
    expect(gunzipSync(readFileSync(`${file}.gz`)).toString()).toBe(content);
    expect(readFileSync(at('dist/console/index.html'), 'utf8')).toContain(script);
  });

  it('only copies what is built already, also after the output was emptied', () => {
    build();
    const before = assets();
    const { mtimeMs } = statSync(at(`dist/console/assets/${before[0]}`));
    rmSync(at('dist'), { recursive: true });
    expect(build()).toBe('');
    expect(assets()).toEqual(before);
    expect(statSync(at(`dist/console/assets/${before[0]}`)).mtimeMs).toBe(mtimeMs);
  });

  it.each(['apps/console/main.js', 'libs/api-client/src/index.ts', 'package-lock.json'])(
    'builds again when %s has changed',
    (path) => {
      build();
      write(path, `${readFileSync(at(path), 'utf8')}\n`);
      expect(build()).toBe('built the console\n');
      expect(build()).toBe('');
    },
  );

  it('leaves nothing of a build that failed', () => {
    build();
    write('apps/console/main.js', 'this is no script');
    const { status } = spawnSync(process.execPath, [SCRIPT], { cwd: folder.path });
    expect(status).not.toBe(0);
    const kept = readdirSync(at('node_modules/.cache/switchboard-console'));
    expect(kept.filter((name) => name.startsWith('draft'))).toEqual([]);
    expect(kept).toHaveLength(1);
  });
});
