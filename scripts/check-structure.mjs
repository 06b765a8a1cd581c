// `npm run structure`: folders stay small, names of files, classes and types are unique, every event has an emitter and a
// listener that is found by its file name, and what a lib exports is imported elsewhere.
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/** More files than this are split into folders by what they do. */
const MAX_FILES = 20;
/** Events that only programs outside this repository hear; none today. */
const HEARD_OUTSIDE = new Set();

/** Each lib has one. */
const SHARED_NAMES = new Set(['index.ts']);

/** A package for programs outside this repository. */
const PACKAGES = new Set(['api-client']);
const IMPORTING_FOLDERS = ['apps', 'libs', 'test', 'migrations'];

const DECLARED = /^export (?:abstract )?(?:class|interface|type|enum) (\w+)/gm;
const EVENT = /^export class (\w+)/gm;
const LISTENS = /@EventsHandler\(|\b(?:signals|replicas)\.hear\b/;
const COMMENT = /\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/[^\n]*/g;

async function sources(root) {
  const found = [];
  for (const lib of await readdir(join(root, 'libs'))) {
    const folder = join(root, 'libs', lib, 'src');
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      if (!entry.isFile() || path.includes('/generated/')) continue;
      const text = path.endsWith('.ts') ? await readFile(path, 'utf8') : '';
      found.push({ lib, path: relative(root, path), text: text.replace(COMMENT, '') });
    }
  }
  return found;
}

async function importers(root) {
  const found = [];
  for (const top of IMPORTING_FOLDERS) {
    const folder = join(root, top);
    const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(entry.parentPath ?? entry.path, entry.name);
      if (!entry.isFile() || !path.endsWith('.ts') || path.includes('/node_modules/')) continue;
      found.push({ path: relative(root, path), text: await readFile(path, 'utf8') });
    }
  }
  return found;
}

/** The names in `{ a, type B, c as d }`: as they are imported, or as they are exported. */
function namesIn(list, side) {
  const entries = list.split(',').map((entry) => entry.trim().replace(/^type\s+/, ''));
  return entries
    .filter(Boolean)
    .map((entry) => entry.split(/\s+as\s+/).at(side === 'from' ? 0 : -1));
}

/** Files of the lib itself, and its specs, import each other without the index. */
function deadExports(files, others) {
  return files
    .filter(({ lib, path }) => path === `libs/${lib}/src/index.ts` && !PACKAGES.has(lib))
    .flatMap(({ lib, path, text }) => {
      const from = `'@app/${lib}'`;
      const importing = others.filter(
        (file) => !file.path.startsWith(`libs/${lib}/`) && file.text.includes(from),
      );
      const imported = new Set();
      for (const file of importing) {
        const lists = file.text.matchAll(
          /\{([^{}]*)\}\s*(?:from|= await import\()\s*('@app\/[\w-]+')/g,
        );
        for (const [, list, name] of lists) {
          if (name !== from) continue;
          // `import { a as b }`, or of an import at run time `const { a: b }`.
          for (const one of namesIn(list, 'from')) imported.add(one.split(':')[0]);
        }
      }
      return [...text.matchAll(/export (?:type )?\{([^}]*)\}/g)]
        .flatMap(([, list]) => namesIn(list, 'to'))
        .filter((name) => !imported.has(name))
        .map((name) => `${path}: exports ${name}, which no other lib, app or test imports`);
    });
}

function largeFolders(files) {
  const counts = new Map();
  for (const { path } of files) counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > MAX_FILES)
    .map(([folder, count]) => `${folder}: ${count} files; split it, at most ${MAX_FILES}`);
}

/** Of all libs but the generated one, which is a library by itself. */
function sharedNames(files) {
  const homes = new Map();
  for (const { path, text } of files) {
    const declared = isTest(path) ? [] : [...text.matchAll(DECLARED)].map(([, name]) => name);
    for (const name of new Set([basename(path), ...declared])) {
      homes.set(name, [...(homes.get(name) ?? []), path]);
    }
  }
  return [...homes]
    .filter(([name, paths]) => paths.length > 1 && !SHARED_NAMES.has(name))
    .map(([name, paths]) => `${name}: names two things, in ${paths.join(' and ')}`);
}

const isListenerFile = (path) => /\.on-[\w-]+\.ts$/.test(path);
const isTest = (path) => path.endsWith('.spec.ts');

function misplacedListeners(files) {
  return files
    .filter(({ path, lib }) => lib !== 'platform' && !isTest(path) && !isListenerFile(path))
    .filter(({ text }) => LISTENS.test(text))
    .map(({ path }) => `${path}: listens to an event; move that to <effect>.on-<event>.ts`);
}

function lonelyEvents(files) {
  const code = files.filter(({ lib, path }) => lib !== 'events' && !isTest(path));
  const listeners = code.filter(({ path }) => isListenerFile(path));
  return files
    .filter(({ lib }) => lib === 'events')
    .flatMap(({ path, text }) => [...text.matchAll(EVENT)].map(([, name]) => ({ path, name })))
    .flatMap(({ path, name }) => {
      const word = new RegExp(`\\b${name}\\b`);
      const problems = [];
      if (!code.some(({ text }) => new RegExp(`\\bnew ${name}\\(`).test(text))) {
        problems.push(`${path}: no lib publishes ${name}`);
      }
      if (!HEARD_OUTSIDE.has(name) && !listeners.some(({ text }) => word.test(text))) {
        problems.push(`${path}: no *.on-*.ts listens to ${name}`);
      }
      return problems;
    });
}

const root = process.argv[2] ?? '.';
const files = await sources(root);
const problems = [
  ...largeFolders(files),
  ...sharedNames(files),
  ...misplacedListeners(files),
  ...lonelyEvents(files),
  ...deadExports(files, await importers(root)),
];
for (const line of problems) console.error(line);
if (problems.length > 0) process.exitCode = 1;
else
  console.log(
    'structure: folders, names, events, listeners and exports are as CONTRIBUTING.md says',
  );
