// Shared by install.mjs, run.mjs and oauth-clients.mjs: the packages, where they are installed, and how their programs are started.
import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_WITHIN_MS = 600_000;

const read = (name) => JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));

/** `args` and `env` are what the server's own documentation asks for; credentials are obviously invalid. */
export const { servers: SERVERS } = read('servers.json');
export const { clients: CLIENTS } = read('clients.json');

const CACHE = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
export const REAL_DIR = process.env.REAL_DIR ?? join(CACHE, 'switchboard-real');
export const NODE_24 = join(REAL_DIR, 'node-24/node_modules/node/bin/node');

const folderOf = (one) => join(REAL_DIR, one.name, 'node_modules', one.package);

function manifestOf(one) {
  const file = join(folderOf(one), 'package.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

export const isInstalled = (one) => manifestOf(one)?.version === one.version;

export async function installPackage(one) {
  const folder = join(REAL_DIR, one.name);
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const dependencies = { [one.package]: one.version, ...one.with };
  const allowScripts = one.runsScripts ? { [one.package]: true } : {};
  const manifest = JSON.stringify({ private: true, dependencies, allowScripts });
  await writeFile(join(folder, 'package.json'), manifest);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error'];
  if (!one.runsScripts) args.push('--ignore-scripts');
  await run('nice', ['-n', '10', 'npm', ...args], { cwd: folder, timeout: INSTALL_WITHIN_MS });
}

/** The file that the package installs as a command. */
export function programOf(one) {
  const { bin } = manifestOf(one);
  const file = typeof bin === 'string' ? bin : (bin[one.bin] ?? Object.values(bin)[0]);
  return join(folderOf(one), file);
}

/** The connection_config of a server, with `home` as its home and working folder. */
export function launchOf(server, home, mark) {
  return {
    command: server.node === 24 ? NODE_24 : process.execPath,
    args: [programOf(server), ...(server.args ?? []).map((arg) => arg.replace('${folder}', home))],
    env: { PATH: process.env.PATH, HOME: home, ...server.env, SWITCHBOARD_REAL_RUN: mark },
    cwd: home,
  };
}

/** A client's package, to be imported from the folder in which it is installed. */
export function clientFolder(name) {
  const one = CLIENTS.find((client) => client.name === name);
  return { ...one, folder: join(REAL_DIR, name) };
}
