// `npm start` must not make a person wait for a build that changes nothing, nor run yesterday's code.
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const built = 'dist/apps/aggregator/src/main.js';
const sources = ['apps', 'libs', 'migrations', 'package-lock.json', 'tsconfig.json'];

function newest(path) {
  if (!existsSync(path)) return 0; // an image holds only what was built
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

if (!existsSync(built) || Math.max(...sources.map(newest)) > statSync(built).mtimeMs) {
  console.log('building …');
  const { status } = spawnSync('npm', ['run', '--silent', 'build'], {
    stdio: 'inherit',
    shell: true,
  });
  process.exit(status ?? 1);
}
