import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { startPostgres } from '../../test/support/embedded-postgres.mjs';
import { GRACE_SECONDS, stopDuringCall } from './held-call.mjs';
import { eventually, expect, Failed, launch, run, step } from './steps.mjs';

/*
 * `npm run image:check`: builds the image of the Dockerfile with buildah, without a daemon, on a base of Debian's
 * debootstrap with this machine's Node, and runs it as its user on a read-only root: embedded, and with PostgreSQL. A
 * call that runs at SIGTERM has to be answered, and the process to end within its grace.
 * Skipped, with a line that says why, where that is impossible: without root, apt, mounts, room or a mirror of Debian.
 */

const MAX_MB = 350;
const FREE_MB = 6_000;
const BASE = 'localhost/switchboard-base';
const IMAGE = 'localhost/switchboard';
const TOKEN = 'an-admin-token-of-the-image-check';
/** buildah without a daemon, an overlay file system or user namespaces. */
const env = { ...process.env, STORAGE_DRIVER: 'vfs', BUILDAH_ISOLATION: 'chroot' };

/** The machine cannot do it, which says nothing about the image. */
class Impossible extends Error {}

const reason = impossible();
if (reason === undefined) await main();
else console.log(`image:check: skipped: ${reason}`);

function impossible() {
  if (process.platform !== 'linux' || process.getuid() !== 0) return 'it needs root on Linux';
  for (const tool of ['buildah', 'debootstrap']) {
    if (!hasTool(tool) && !install(tool))
      return `${tool} is not installed, and apt cannot install it`;
  }
  const mounts = spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/mnt']);
  if (mounts.status !== 0) return 'this machine allows no mounts';
  return undefined;
}

function hasTool(name) {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0;
}

function install(name) {
  const options = {
    stdio: 'ignore',
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  if (spawnSync('apt-get', ['update'], options).error) return false;
  const args = ['install', '-y', '--no-install-recommends', name];
  return spawnSync('apt-get', args, options).status === 0 && hasTool(name);
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-image-'));
  // Its own storage, which goes with the folder.
  env.CONTAINERS_STORAGE_CONF = join(folder, 'storage.conf');
  writeFileSync(
    env.CONTAINERS_STORAGE_CONF,
    `[storage]\ndriver = "vfs"\ngraphroot = "${folder}/storage"\nrunroot = "${folder}/run"\n`,
  );
  try {
    await check(folder);
    console.log('image:check: the image runs as its user on a read-only root');
  } catch (error) {
    if (error instanceof Impossible) return console.log(`image:check: skipped: ${error.message}`);
    if (!(error instanceof Failed)) throw error;
    console.error(`image:check: ${error.message}`);
    process.exitCode = 1;
  } finally {
    spawnSync('buildah', ['rm', '--all'], { env });
    rmSync(folder, { recursive: true, force: true });
  }
}

async function check(folder) {
  const free = Number((await run('df', ['--output=avail', '-m', folder])).split('\n')[1]);
  if (free < FREE_MB) {
    throw new Impossible(`it needs ${FREE_MB} MB in ${tmpdir()}, and there are ${free}`);
  }
  await step('base', () => makeBase(join(folder, 'base')));
  await step('build', build);
  const container = (await buildah('from', '--pull-never', IMAGE)).trim();
  const config = JSON.parse(await buildah('inspect', '--type', 'image', IMAGE)).Docker.config;
  const root = (await buildah('mount', container)).trim();
  await expectSmall(root, join(folder, 'base'));
  expectConfig(config);
  expectNoDevelopment(root);
  const image = { root, config, folder };
  await step('run, embedded', () => runOnce(image, 'embedded', {}));
  const postgres = await startPostgres();
  try {
    await step('run, with PostgreSQL', () =>
      runOnce(image, 'postgres', {
        DATABASE_URL: `${postgres.url}/postgres`,
        MCP_CREDENTIAL_KEY: 'a-key-of-the-image-check-only',
        MCP_AGGREGATOR_SHUTDOWN_DELAY: '0',
      }),
    );
  } finally {
    await postgres.stop();
  }
}

function buildah(...args) {
  return run('buildah', args, { env });
}

/** Debian as debootstrap makes it, with this machine's Node, npm, its configuration and its certificates. */
async function makeBase(base) {
  await run('debootstrap', ['--variant=minbase', 'bookworm', base, mirror()]).catch((error) => {
    throw new Impossible(`no base of Debian from ${mirror()}: ${error.message.slice(-500)}`);
  });
  const modules = (await run('npm', ['root', '--global'])).trim();
  const copy = async (from, to) => {
    mkdirSync(dirname(join(base, to)), { recursive: true });
    await run('cp', ['--recursive', '--dereference', from, join(base, to)]);
  };
  await copy(realpathSync(process.execPath), 'usr/local/bin/node');
  await copy(join(modules, 'npm'), 'usr/local/lib/node_modules/npm');
  for (const name of ['npm', 'npx']) {
    const target = `../lib/node_modules/npm/bin/${name}-cli.js`;
    await run('ln', ['-s', target, join(base, 'usr/local/bin', name)]);
  }
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  await copy(certificates, certificates);
  const registry = (await run('npm', ['config', 'get', 'registry'])).trim();
  mkdirSync(join(base, 'usr/local/etc'), { recursive: true });
  writeFileSync(
    join(base, 'usr/local/etc/npmrc'),
    `registry=${registry}\ncafile=${certificates}\n`,
  );
  const container = (await buildah('from', 'scratch')).trim();
  await buildah('add', '--quiet', container, base, '/');
  await buildah('commit', '--quiet', '--rm', container, BASE);
}

/** Where this machine gets Debian from. */
function mirror() {
  const files = ['/etc/apt/sources.list', ...listIn('/etc/apt/sources.list.d')];
  const found = files.flatMap(
    (file) => /https?:\/\/\S+\/debian\/?(?=\s|$)/.exec(textOf(file)) ?? [],
  );
  return found[0] ?? 'http://deb.debian.org/debian';
}

function listIn(folder) {
  try {
    return readdirSync(folder).map((name) => join(folder, name));
  } catch {
    return [];
  }
}

function textOf(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

async function build() {
  const revision = spawnSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
  await buildah(
    'bud',
    '--pull-never',
    '--network=host',
    '--format=docker',
    '--layers=false',
    ...['--build-arg', `BASE_IMAGE=${BASE}`],
    ...['--build-arg', `REVISION=${revision || 'unknown'}`],
    ...['--tag', IMAGE],
    '.',
  );
}

async function expectSmall(root, base) {
  const mb = async (folder) =>
    Number((await run('du', ['--summarize', '--block-size=1M', folder])).split('\t')[0]);
  const [whole, below] = [await mb(root), await mb(base)];
  console.log(`image: ${whole - below} MB over its base of ${below} MB`);
  expect(whole - below <= MAX_MB, `the image has more than ${MAX_MB} MB over its base`);
}

function expectConfig({ User: user, Labels: labels, Healthcheck: health, Volumes: volumes }) {
  expect(/^[1-9]\d*(:\d+)?$/.test(user), `its user is ${user}, and not a number above 0`);
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  expect(labels['org.opencontainers.image.version'] === version, `its label is not ${version}`);
  expect(labels['org.opencontainers.image.licenses'], 'it has no label with its licence');
  expect(health?.Test?.[0] === 'CMD', 'it has no health check');
  expect(Object.keys(volumes ?? {}).includes('/data'), '/data is no volume');
}

function expectNoDevelopment(root) {
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const installed = new Set(
    readdirSync(join(root, 'app/node_modules')).flatMap((name) =>
      name.startsWith('@')
        ? readdirSync(join(root, 'app/node_modules', name)).map((inner) => `${name}/${inner}`)
        : [name],
    ),
  );
  const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages;
  const surplus = Object.keys(devDependencies).filter(
    (name) => installed.has(name) && isOnlyForDevelopment(lock[`node_modules/${name}`]),
  );
  expect(surplus.length === 0, `${surplus.join(', ')} is for development only`);
}

function isOnlyForDevelopment(entry) {
  return entry?.dev === true || entry?.devOptional === true;
}

/** Starts it as a container engine does, waits until its own health check passes, and ends it while a call runs. */
async function runOnce({ root, config, folder }, name, settings) {
  const place = join(folder, name);
  const port = 20_000 + Math.floor(Math.random() * 10_000);
  const variables = [
    ...config.Env,
    `MCP_AGGREGATOR_PORT=${port}`,
    `MCP_AGGREGATOR_TOKENS=admin:admin:${TOKEN}`,
    `MCP_AGGREGATOR_SHUTDOWN_GRACE=${GRACE_SECONDS}`,
    ...Object.entries(settings).map(([key, value]) => `${key}=${value}`),
  ];
  mkdirSync(join(place, 'root'), { recursive: true });
  mkdirSync(join(place, 'data'));
  await run('chown', [config.User, join(place, 'data')]);
  const program = [...config.Entrypoint, ...config.Cmd];
  const service = launch('unshare', contained(root, place, config.User, variables, program));
  try {
    const [, ...health] = config.Healthcheck.Test;
    await eventually(
      `the health check (${name})`,
      () =>
        run('nsenter', [
          `--target=${service.pid}`,
          '--mount',
          ...inRoot(join(place, 'root'), config.User, variables, health),
        ]).then(() => true),
      service.isRunning,
    );
    const headers = { authorization: `Bearer ${TOKEN}` };
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1/aggregator/state`, { headers });
    expect(answer.status === 200, `GET /state answered ${answer.status}`);
    const page = await fetch(`http://127.0.0.1:${port}/console/`);
    expect(page.status === 200, `the console answered ${page.status}`);
    expect(!readdirSync(join(place, 'data')).includes('core'), 'it crashed');
    const code = await stopDuringCall(service, `http://127.0.0.1:${port}`, TOKEN);
    expect(code === 0, `it ended with ${code} after SIGTERM`);
    expect(!readdirSync(join(place, 'data')).includes('address'), 'it did not end in order');
  } catch (error) {
    await service.stop('SIGKILL');
    throw error instanceof Failed ? new Failed(`${error.message}\n${service.output()}`) : error;
  }
}

/** Arguments of `unshare`: the root read-only, /data and /tmp writable. */
function contained(root, place, user, variables, program) {
  const at = join(place, 'root');
  const script = [
    'set -e',
    `mount --bind '${root}' '${at}'`,
    `mount -o remount,ro,bind '${at}'`,
    `mount --bind '${place}/data' '${at}/data'`,
    `mount -t tmpfs -o mode=1777 none '${at}/tmp'`,
    `mount -t proc none '${at}/proc'`,
    `mount --bind /dev '${at}/dev'`,
    `exec "$@"`,
  ].join('\n');
  return ['--mount', 'sh', '-c', script, basename(at), ...inRoot(at, user, variables, program)];
}

function inRoot(at, user, variables, [command, ...args]) {
  const id = user.includes(':') ? user : `${user}:${user}`;
  const shell = 'cd /app && exec "$@"';
  return [
    'chroot',
    `--userspec=${id}`,
    at,
    ...['env', '--ignore-environment', ...variables],
    ...['sh', '-c', shell, 'image', command, ...args],
  ];
}
