// Builds before `npm start` if a source is newer than the last complete build.
import './node-floor.mjs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const built = 'dist/apps/aggregator/src/main.js';
/** Without it the service starts, but shows nothing in a browser. */
const page = 'dist/console/index.html';
/** Written by the last step of a build, so that an interrupted build is detected. */
const lastPart = 'dist/database-template';
const sources = [
  'apps',
  'libs',
  'migrations',
  'nest-cli.json',
  'package-lock.json',
  'tsconfig.json',
];

function newest(path) {
  if (!existsSync(path)) return 0; // a container image contains only the build
  const stat = statSync(path);
  if (!stat.isDirectory()) return stat.mtimeMs;
  return Math.max(0, ...readdirSync(path).map((name) => newest(join(path, name))));
}

if (isNeeded()) process.exitCode = await build();

function isNeeded() {
  if (![built, page, lastPart].every((path) => existsSync(path))) return true;
  return Math.max(...sources.map(newest)) > statSync(built).mtimeMs;
}

/** Shows the elapsed time: on a terminal in one line, elsewhere in a new line at intervals. */
async function build() {
  const startedAt = performance.now();
  const seconds = () => Math.round((performance.now() - startedAt) / 1_000);
  const { isTTY } = process.stdout;
  const show = () =>
    process.stdout.write(isTTY ? `\rbuilding … ${seconds()} s` : `building … ${seconds()} s\n`);
  console.log('building; the first time takes about a minute');
  const timer = setInterval(show, isTTY ? 1_000 : 10_000);
  const child = spawn('npm', ['run', '--silent', 'build'], { stdio: 'inherit', shell: true });
  const [status] = await once(child, 'close');
  clearInterval(timer);
  const outcome = status === 0 ? 'built' : 'the build failed';
  console.log(`${isTTY ? '\r' : ''}${outcome} after ${seconds()} s`);
  return status ?? 1;
}
