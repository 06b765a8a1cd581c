// `npm run structure`: folders stay small, names of files, classes and types are unique, and every event has an emitter
// and a listener that is found by its file name.
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/** More files than this are split into folders by what they do. */
const MAX_FILES = 20;
/** Events that only programs outside this repository hear; none today. */
const HEARD_OUTSIDE = new Set();

/** Each lib has one. */
const SHARED_NAMES = new Set(['index.ts']);

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

const files = await sources(process.argv[2] ?? '.');
const problems = [
  ...largeFolders(files),
  ...sharedNames(files),
  ...misplacedListeners(files),
  ...lonelyEvents(files),
];
for (const line of problems) console.error(line);
if (problems.length > 0) process.exitCode = 1;
else console.log('structure: folders, names, events and listeners are as CONTRIBUTING.md says');
