import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/env.js';

const SCRIPT = join(process.cwd(), 'scripts/build-if-needed.mjs');
/** Writes the output of a build, or fails halfway. */
const BUILD = `
  const { mkdirSync, writeFileSync } = require('node:fs');
  mkdirSync('dist/apps/aggregator/src', { recursive: true });
  writeFileSync('dist/apps/aggregator/src/main.js', '');
  if (process.env.FAILS) process.exit(3);
  mkdirSync('dist/console', { recursive: true });
  writeFileSync('dist/console/index.html', '');
  mkdirSync('dist/database-template', { recursive: true });
`;

describe('a build before a start', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  beforeEach(async () => {
    folder = await temporaryFolder();
    mkdirSync(join(folder.path, 'apps'));
    writeFileSync(join(folder.path, 'apps/main.ts'), '');
    writeFileSync(join(folder.path, 'build.cjs'), BUILD);
    const scripts = { build: 'node build.cjs' };
    writeFileSync(join(folder.path, 'package.json'), JSON.stringify({ scripts }));
  });
  afterEach(() => folder.remove());

  const run = (variables: Record<string, string> = {}) => {
    const { status, stdout } = spawnSync(process.execPath, [SCRIPT], {
      cwd: folder.path,
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...variables },
    });
    return { status, stdout };
  };

  it('reports progress without control codes, and does not build twice', () => {
    const first = run();
    expect(first.status).toBe(0);
    expect(first.stdout).toMatch(/^building.*\n(?:building .*\n)*built after \d+ s\n$/);
    expect(run()).toEqual({ status: 0, stdout: '' });
  });

  it('builds again when a source is newer', () => {
    run();
    const later = Date.now() / 1_000 + 60;
    utimesSync(join(folder.path, 'apps/main.ts'), later, later);
    expect(run().stdout).toContain('building');
  });

  it('builds again when there is no console, as after a build of the service alone', () => {
    run();
    rmSync(join(folder.path, 'dist/console'), { recursive: true });
    expect(run().stdout).toContain('building');
  });

  it('builds again when a build was interrupted, and ends as the build did', () => {
    const failed = run({ FAILS: 'yes' });
    expect(failed.status).toBe(3);
    expect(failed.stdout).toContain('the build failed after');
    expect(run()).toMatchObject({ status: 0, stdout: expect.stringContaining('built after') });
  });
});
