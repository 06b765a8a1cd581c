// `npm run real:install`: the servers of servers.json and the clients of clients.json, each in its own folder outside
// the checkout, because their dependencies do not fit together. Scripts of packages are not run. What is installed in
// its version is left alone.
import { freemem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { CLIENTS, installPackage, isInstalled, REAL_DIR, SERVERS } from './real.mjs';

const AT_ONCE = Number(process.env.REAL_INSTALL_AT_ONCE ?? 4);
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
    await installPackage(one).then(
      () => console.log(`${one.package}@${one.version}`),
      (error) => failed.push({ one, reason: lastLine(error) }),
    );
  }
}

function lastLine(error) {
  const lines = String(error.stderr ?? error.message)
    .trim()
    .split('\n');
  return lines.find((line) => line.startsWith('npm error')) ?? lines.at(-1);
}
