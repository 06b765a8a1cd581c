// `npm run real:install`: the servers of servers.json and the clients of clients.json, each in its own folder outside
// the checkout, because their dependencies do not fit together. Scripts of packages are not run. What is installed in
// its version is left alone.
import { execFile } from 'node:child_process';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CLIENTS, isInstalled, REAL_DIR, SERVERS } from './real.mjs';

const run = promisify(execFile);
const AT_ONCE = Number(process.env.REAL_INSTALL_AT_ONCE ?? 4);
const WITHIN_MS = 600_000;
/** npm itself takes about 300 MB for a package with many dependencies. */
const FREE_BYTES = 1_000_000_000;

const missing = [...CLIENTS, ...SERVERS].filter((one) => !isInstalled(one));
console.log(`${missing.length} packages to install in ${REAL_DIR}`);
const failed = [];
const queue = missing.values();
await Promise.all(Array.from({ length: AT_ONCE }, installNext));
for (const { one, reason } of failed) console.error(`${one.package}: ${reason}`);
process.exitCode = failed.length > 0 ? 1 : 0;

async function installNext() {
  for (const one of queue) {
    while (freemem() < FREE_BYTES) await sleep(1_000);
    await install(one).then(
      () => console.log(`${one.package}@${one.version}`),
      (error) => failed.push({ one, reason: lastLine(error) }),
    );
  }
}

async function install(one) {
  const folder = join(REAL_DIR, one.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const dependencies = { [one.package]: one.version, ...one.with };
  const allowScripts = one.runsScripts ? { [one.package]: true } : {};
  const manifest = JSON.stringify({ private: true, dependencies, allowScripts });
  await writeFile(join(folder, 'package.json'), manifest);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  if (!one.runsScripts) args.push('--ignore-scripts');
  await run('nice', ['-n', '10', 'npm', ...args], { cwd: folder, timeout: WITHIN_MS });
}

function lastLine(error) {
  const lines = String(error.stderr ?? error.message)
    .trim()
    .split('\n');
  return lines.find((line) => line.startsWith('npm error')) ?? lines.at(-1);
}
