// `npm run mutation -- libs/routing [--sample 150] [--seed 1] [--also test/x.e2e-spec.ts] [--only libs/x.spec.ts]`: how
// many small changes of a library its specs notice. Not in CI: it takes minutes. Stryker makes the changes, all in one copy
// of a file with a switch for each. What runs the specs is ours (spec-runner.cjs): Stryker starts Jest for every change,
// which takes a day.
import { transform } from '@swc/core';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import startPostgres from '../../test/support/global-setup.mjs';
import stopPostgres from '../../test/support/global-teardown.mjs';
import { typescript } from '../../test/jest/typescript-hooks.mjs';
import { coverageOf, runTasks } from './spec-process.mjs';

const VERSION = '9.6.1'; // supports Node 20
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Wiring and shapes, which the end-to-end specs cover. */
const LEFT_OUT =
  /(^index|^fake-.*|\.(spec|module|controller|dto|entity|store|errors|metrics|job))\.ts$/;

/** Specs that test a library from outside: what it does for the service. */
const FROM_OUTSIDE = {
  'libs/access': ['test/contract/access.e2e-spec.ts'],
  'libs/mcp-client': ['test/contract/four-cells.e2e-spec.ts'],
  'libs/mcp-protocol': ['libs/mcp-server/src/endpoint/mcp-endpoint.int.spec.ts'],
  'libs/mcp-server': ['libs/gateway/src/gateway.int.spec.ts'],
  'libs/registry': ['test/contract/servers.e2e-spec.ts'],
  'libs/routing': ['libs/gateway/src/gateway.int.spec.ts'],
};

const { values, positionals: targets } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: '1' },
    also: { type: 'string', multiple: true, default: [] },
    only: { type: 'string', multiple: true, default: [] },
  },
});
const sampleSize = values.sample === undefined ? Infinity : Number(values.sample);
if (
  targets.length === 0 ||
  !(sampleSize > 0) ||
  targets.some((target) => !existsSync(join(ROOT, target)))
) {
  console.error(
    'Name libraries or files: npm run mutation -- libs/routing [--sample 150] [--seed 1]',
  );
  process.exit(2);
}

const started = Date.now();
const folder = mkdtempSync(join(tmpdir(), 'mutation-'));
process.chdir(ROOT);
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
await startPostgres();
try {
  const all = await instrument(targets.flatMap(sourcesOf));
  const sample = shuffled(all, Number(values.seed)).slice(0, sampleSize);
  await testAll(sample, specsOf(targets));
  report(sample, all.length);
} finally {
  await stopPostgres();
}

function filesIn(path) {
  if (path.endsWith('.ts')) return [path];
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, name))
    .filter((name) => name.endsWith('.ts'))
    .sort();
}

function sourcesOf(target) {
  return filesIn(target).filter((file) => !LEFT_OUT.test(file.split('/').at(-1)));
}

/** The specs of the libraries, those without I/O first, and those from outside; with `--only`, those it names. */
function specsOf(paths) {
  if (values.only.length > 0) return values.only;
  const libs = [...new Set(paths.map((path) => /^libs\/[^/]+/.exec(path)?.[0] ?? path))];
  const own = libs
    .flatMap(filesIn)
    .filter((file) => file.endsWith('.spec.ts') && !file.includes('.fuzz.'));
  const slow = (file) => Number(file.includes('.int.'));
  const outside = libs.flatMap((lib) => FROM_OUTSIDE[lib] ?? []);
  return [...own.sort((a, b) => slow(a) - slow(b)), ...outside, ...values.also];
}

/** Writes each file with all its mutants to the folder, from where mutant-hooks.mjs loads it. */
async function instrument(files) {
  const { createInstrumenter, createInjector } = await stryker();
  const silent = new Proxy({}, { get: () => () => false });
  const instrumenter = createInjector()
    .provideValue('logger', silent)
    .injectFunction(createInstrumenter);
  const input = files.map((name) => ({ name, mutate: true, content: readFileSync(name, 'utf8') }));
  const options = { plugins: null, excludedMutations: [], ignorers: [] };
  const result = await instrumenter.instrument(input, options);
  for (const { name, content } of result.files) {
    const { code } = await transform(content, { ...typescript, filename: name, swcrc: false });
    const file = join(folder, 'sources', `${join(ROOT, name)}.js`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, code);
  }
  return result.mutants
    .filter(({ status }) => status !== 'Ignored')
    .map((mutant) => ({ ...mutant, killed: false, reached: false }));
}

/** From npm, into a folder for temporary files: 100 packages that nothing else here needs. */
async function stryker() {
  const home = join(tmpdir(), `switchboard-stryker-${VERSION}`);
  const packages = [`@stryker-mutator/instrumenter@${VERSION}`, 'typed-inject@5'];
  if (!existsSync(join(home, 'package-lock.json'))) {
    const flags = ['--no-audit', '--no-fund', '--loglevel=error'];
    const { status } = spawnSync('npm', ['install', '--prefix', home, ...flags, ...packages], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    if (status !== 0) throw new Error('The instrumenter of Stryker cannot be installed');
  }
  const { resolve } = createRequire(join(home, 'package.json'));
  const load = (name) => import(pathToFileURL(resolve(name)).href);
  return { ...(await load('@stryker-mutator/instrumenter')), ...(await load('typed-inject')) };
}

/** The fastest specs first, and only mutants that none before has noticed. */
async function testAll(mutants, specs) {
  const byId = new Map(mutants.map((mutant) => [mutant.id, mutant]));
  const covered = [];
  for (const spec of specs) covered.push(await coverageOf(folder, spec, [...byId.keys()]));
  console.error(`${elapsed()} ${specs.length} specs run without a change`);
  for (const { spec, reached } of covered.sort((a, b) => a.ms - b.ms)) {
    const tasks = reached.filter(({ id }) => !byId.get(id).killed);
    const statuses = await runTasks(folder, spec, tasks, progressOf(spec, tasks.length));
    for (const [id, status] of statuses) {
      Object.assign(byId.get(id), { reached: true, killed: status === 'killed' });
    }
    const killed = [...statuses.values()].filter((status) => status === 'killed').length;
    if (tasks.length > 0)
      console.error(`${elapsed()} ${spec}: ${killed} of ${tasks.length} killed`);
  }
}

/** A line for every ten mutants. */
function progressOf(spec, count) {
  return (lines) => {
    const done = lines.filter(({ status }) => status).length;
    if (lines.at(-1).status && done % 10 === 0) {
      console.error(`${elapsed()} ${spec}: ${done} of ${count}`);
    }
  };
}

function report(sample, total) {
  for (const mutant of sample.filter(({ killed }) => !killed).sort(byPlace)) {
    const { fileName, location, replacement, reached } = mutant;
    const { start } = location;
    const [line] = readFileSync(fileName, 'utf8')
      .split('\n')
      .slice(start.line, start.line + 1);
    console.log(
      `${relative(ROOT, fileName)}:${start.line + 1}:${start.column + 1}${reached ? '' : ' (no test)'}`,
    );
    console.log(`  - ${line.trim()}\n  + ${oneLine(replacement)}`);
  }
  const killed = sample.filter((mutant) => mutant.killed).length;
  const share = ((100 * killed) / sample.length).toFixed(1);
  const which =
    sample.length < total
      ? `a sample of ${sample.length} (seed ${values.seed}) of ${total}`
      : total;
  console.log(
    `${targets.join(' ')}: ${share} % killed, ${killed} of ${which} mutants, in ${elapsed()}`,
  );
}

function byPlace(a, b) {
  return a.fileName.localeCompare(b.fileName) || a.location.start.line - b.location.start.line;
}

function oneLine(text) {
  const flat = text.replaceAll(/\s+/g, ' ');
  return flat.length > 160 ? `${flat.slice(0, 160)}…` : flat;
}

function elapsed() {
  return `${Math.round((Date.now() - started) / 1000)} s`;
}

/** Fisher and Yates, with mulberry32. */
function shuffled(items, seed) {
  const result = [...items];
  let state = seed;
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  for (let i = result.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [result[i], result[j]] = [result[j], result[i]];
  }
  return result;
}
