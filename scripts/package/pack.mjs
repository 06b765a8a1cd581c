// npm run package [-- <folder>]: writes the package as one tarball that has all it needs, in the versions of
// package-lock.json (docs/decisions/0801).
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { expect, run } from './steps.mjs';

/** Of no use while the service runs: types, source maps, sources and documentation of packages. */
const SURPLUS = /\.([cm]?ts|map|md|markdown|flow|tsbuildinfo)$/i;
/** Tests, and large files that Node does not resolve: other forms of the same program. */
const UNUSED = [
  /^(@[^/]+\/)?[^/]+\/(tests?|benchmarks?|examples?)\//,
  // PostgreSQL's optional extensions.
  /^@electric-sql\/pglite\/dist\/([^/]+\.tar\.gz$|.*\.cjs$)/,
  /^@modelcontextprotocol\/(client|server)\/dist\/.*\.cjs$/,
  /^class-(transformer|validator)\/(bundles|esm5|esm2015)\//,
  /^dayjs\/(esm|locale)\//,
  /^es-toolkit\/.*\.js$/,
  /^libphonenumber-js\/(bundle|es6|es6-modern|source)\//,
  /^luxon\/(src|build\/(amd|cjs-browser|global))\//,
  /^rxjs\/dist\/(bundles|esm|esm5)\//,
  /^swagger-ui-dist\/swagger-ui(-es-bundle.*)?\.js$/,
  /^typeorm\/browser\//,
  /^validator\/(es\/|validator)/,
  /^yaml\/browser\//,
];
/** To be kept with every copy. */
const NOTICE = /^(licen[cs]e|notice|copying|copyright|authors|patents|third)/i;

const read = (file) => JSON.parse(readFileSync(file, 'utf8'));
const target = resolve(process.argv[2] ?? '.');
const stage = mkdtempSync(join(tmpdir(), 'switchboard-package-'));
try {
  await run(process.execPath, ['scripts/build-if-needed.mjs']);
  const packages = productionPackages();
  for (const path of await ownFiles()) copy(path);
  for (const path of packages.flatMap(filesOf)) copy(path);
  writeFileSync(join(stage, 'package.json'), JSON.stringify(manifest(packages), null, 2));
  console.log(join(target, await pack()));
} finally {
  rmSync(stage, { recursive: true, force: true });
}

/** Paths such as `node_modules/a/node_modules/b`. */
function productionPackages() {
  const locked = Object.entries(read('package-lock.json').packages).filter(
    ([path, { dev, devOptional, optional }]) => path !== '' && !dev && !devOptional && !optional,
  );
  for (const [path, { version }] of locked) {
    const file = join(path, 'package.json');
    const installed = existsSync(file) ? read(file).version : 'missing';
    expect(installed === version, `${path} is ${installed} instead of ${version}: run npm ci`);
  }
  return locked.map(([path]) => path);
}

/** What package.json lists under `files`, without dependencies. */
async function ownFiles() {
  const [{ files }] = JSON.parse(
    await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error']),
  );
  return files.map(({ path }) => path).filter((path) => path !== 'package.json');
}

function filesOf(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) return [];
    if (entry.isDirectory()) return filesOf(path);
    return entry.isFile() && isWanted(path) ? [path] : [];
  });
}

function isWanted(path) {
  if (NOTICE.test(basename(path))) return true;
  const inPackage = path.split('node_modules/').at(-1);
  return !SURPLUS.test(path) && !UNUSED.some((unused) => unused.test(inPackage));
}

function copy(path) {
  const to = join(stage, path);
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(path, to);
}

/** With the packages beside it as dependencies, in exactly these versions: npm takes them from the tarball. */
function manifest(packages) {
  const { scripts: _, overrides: __, allowScripts: ___, ...kept } = read('package.json');
  const beside = packages.filter((path) => path.lastIndexOf('node_modules/') === 0);
  const dependencies = Object.fromEntries(
    beside.map((path) => [
      path.slice('node_modules/'.length),
      read(join(path, 'package.json')).version,
    ]),
  );
  // The demo reads the versions of its servers from devDependencies, which npm does not install.
  return { ...kept, dependencies, bundleDependencies: Object.keys(dependencies) };
}

/** The name of the tarball; npm has rules of its own for what is packed, so its list is compared with what is here. */
async function pack() {
  const [{ filename, files }] = JSON.parse(
    await run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', target], {
      cwd: stage,
    }),
  );
  const packed = new Set(files.map(({ path }) => path));
  const missing = stagedFiles(stage).filter((path) => !packed.has(path));
  expect(missing.length === 0, `npm left out ${missing.slice(0, 10).join(', ')}`);
  console.log(`${packed.size} files`);
  return basename(filename);
}

function stagedFiles(folder, under = '') {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = under === '' ? entry.name : `${under}/${entry.name}`;
    return entry.isDirectory() ? stagedFiles(join(folder, entry.name), path) : [path];
  });
}
