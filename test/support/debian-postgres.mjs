import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './embedded-postgres.mjs';

/** Of Debian 12, the oldest version that the tests run on. */
export const DEBIAN_BIN = '/usr/lib/postgresql/15/bin';
export const hasDebianPostgres = existsSync(join(DEBIAN_BIN, 'initdb'));

const READY = 'ready to accept connections';

/** Debian's PostgreSQL in a folder of its own that `stop` removes; `onLog` gets what the server logs. */
export async function startDebianPostgres(flags = [], onLog = () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-pg15-'));
  chmodSync(folder, 0o755);
  const data = join(folder, 'pg');
  mkdirSync(data, { mode: 0o700 });
  const user = ownUser();
  if (user) chownSync(data, user.uid, user.gid);
  const as = { ...user, cwd: folder };
  const made = spawnSync(
    join(DEBIAN_BIN, 'initdb'),
    // prettier-ignore
    ['--pgdata', data, '--auth=trust', '--username=postgres', '--no-sync', '--encoding=UTF8', '--locale=C.UTF-8'],
    { ...as, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb of PostgreSQL 15: ${made.stderr}`);
  const port = await freePort();
  const server = spawn(
    join(DEBIAN_BIN, 'postgres'),
    ['-D', data, '-p', String(port), '-c', 'unix_socket_directories=', ...flags],
    { ...as, stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const exited = new Promise((resolve) => {
    server.once('exit', resolve);
  });
  await new Promise((resolve, reject) => {
    let log = '';
    server.stderr.setEncoding('utf8').on('data', (text) => {
      onLog(text);
      if (log.includes(READY)) return;
      log += text;
      if (log.includes(READY)) resolve();
    });
    void exited.then(() => reject(new Error(`PostgreSQL 15 does not start: ${log}`)));
  });
  return {
    /** Without the name of a database. */
    url: `postgres://postgres@127.0.0.1:${port}`,
    stop: async () => {
      server.kill('SIGINT');
      await exited;
      process.off('exit', kill);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** PostgreSQL does not run as root; the package of Debian makes a user for it. */
function ownUser() {
  if (process.getuid?.() !== 0) return undefined;
  const id = (kind) => Number(execFileSync('id', [kind, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}
