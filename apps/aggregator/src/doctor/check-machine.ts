import { type Env, findHolder } from '@app/platform';
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join, resolve } from 'node:path';
import { fail, type Finding, ok, warn } from './finding.js';

const SKEW_MS = 60_000;
const LITTLE_BYTES = 512 * 1_048_576;

export function checkNode(): Finding {
  // An older one than the floor ends every command before this one runs.
  return ok('node', `Node ${process.version.slice(1)} on ${process.platform} ${process.arch}`);
}

/** The folder, its owner, its disk, and who holds it. */
export async function checkDataFolder(env: Env): Promise<Finding> {
  const folder = resolve(env.MCP_AGGREGATOR_DATA_DIR);
  const there = nearestExisting(folder);
  const remedy =
    'Give it to the user of the service, or name another with MCP_AGGREGATOR_DATA_DIR.';
  try {
    if (!statSync(there).isDirectory()) return fail('data folder', `${there} is no folder`, remedy);
    accessSync(there, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return fail('data folder', `${there} cannot be written by this user`, remedy);
  }
  const { bavail, bsize } = statfsSync(there);
  const free = bavail * bsize;
  if (free < LITTLE_BYTES) {
    const detail = `${folder} has ${Math.floor(free / 1_048_576)} MB left on its disk`;
    return warn('data folder', detail, 'Make room: a full disk refuses every change.');
  }
  if (there !== folder) return ok('data folder', `${folder} will be made by the first start`);
  const holder = await findHolder(folder);
  const held = holder
    ? `, held by process ${holder.pid} of ${holder.host} since ${holder.since}`
    : '';
  return ok('data folder', `${folder} can be written${held}`);
}

function nearestExisting(folder: string): string {
  return existsSync(folder) ? folder : nearestExisting(dirname(folder));
}

/** With PostgreSQL, its clock is compared with this one. */
export function checkClock(env: Env): Finding | undefined {
  if (env.DATABASE_URL) return undefined;
  const control = join(env.MCP_AGGREGATOR_DATA_DIR, 'postgres/global/pg_control');
  // A folder that cannot be used is a finding of its own.
  const written = existsSync(control) ? statSync(control) : undefined;
  return written && written.mtimeMs > new Date().getTime() + SKEW_MS
    ? warn(
        'clock',
        `the clock of this machine is before ${written.mtime.toISOString()}, when the database was last written`,
        'Set it (NTP): tokens, logins and logs compare times.',
      )
    : ok('clock', `it is ${new Date().toISOString()} by the clock of this machine`);
}

/** `runningAt`: the URL of the service, if it runs. */
export async function checkPort(env: Env, runningAt: string | undefined): Promise<Finding> {
  const { MCP_AGGREGATOR_HOST: host, MCP_AGGREGATOR_PORT: port } = env;
  const at = `port ${port} of ${host}`;
  const problem = await listenProblem(host, port);
  if (problem === undefined) return ok('port', port === 0 ? 'any free port' : `${at} is free`);
  if (problem === 'EADDRINUSE') {
    return runningAt !== undefined && Number(new URL(runningAt).port) === port
      ? ok('port', `${at} is used by the running service`)
      : fail(
          'port',
          `another program listens on ${at}`,
          'Stop that program, or choose another port with MCP_AGGREGATOR_PORT (0 takes any free one).',
        );
  }
  return fail(
    'port',
    `this user cannot listen on ${at} (${problem})`,
    'Correct MCP_AGGREGATOR_HOST and MCP_AGGREGATOR_PORT; ports below 1024 need privileges.',
  );
}

function listenProblem(host: string, port: number): Promise<string | undefined> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => done(error.code ?? 'unknown'));
    server.listen(port, host, () => server.close(() => done(undefined)));
  });
}
