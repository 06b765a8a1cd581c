// Module hooks (they run in a thread of their own): TypeScript for Node, as one copy of our sources per suite.
import { transform } from '@swc/core';
import { existsSync, statSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = new URL('../../', import.meta.url).href;
/** For SWC. */
export const typescript = {
  jsc: {
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true },
    target: 'es2022',
  },
  module: { type: 'es6' },
};

/** By path and time of the last change: suites differ in their copy of a module, not in its code. */
const transformed = new Map();
let mapFolder;

export function initialize(data) {
  ({ mapFolder } = data);
}

/** The query of a suite (`?suite=3`) is passed on to its imports, except to packages. */
export async function resolve(specifier, context, next) {
  const { parentURL } = context;
  if (!isOurs(parentURL)) return next(specifier, context);
  const found = typescriptOf(specifier, parentURL) ?? (await next(specifier, context));
  return isOurs(found.url) ? { ...found, url: found.url + new URL(parentURL).search } : found;
}

const isOurs = (url) => url?.startsWith(ROOT) && !url.includes('/node_modules/');

function typescriptOf(specifier, parentURL) {
  const found = (url) => ({ url, format: 'module', shortCircuit: true });
  if (specifier === '@jest/globals') return found(`${ROOT}test/jest/globals.mjs`);
  if (specifier.startsWith('@app/')) {
    return found(`${ROOT}libs/${specifier.slice('@app/'.length)}/src/index.ts`);
  }
  if (!/^\.{1,2}\/.*\.js$/.test(specifier)) return undefined;
  const { href } = new URL(specifier.replace(/\.js$/, '.ts'), parentURL);
  return existsSync(fileURLToPath(href)) ? found(href) : undefined;
}

export async function load(url, context, next) {
  const { protocol, pathname } = new URL(url);
  if (protocol !== 'file:' || !pathname.endsWith('.ts')) return next(url, context);
  const path = fileURLToPath(url);
  const version = `${path} ${statSync(path).mtimeMs}`;
  if (!transformed.has(version)) transformed.set(version, toJavaScript(path));
  return { format: 'module', source: await transformed.get(version), shortCircuit: true };
}

async function toJavaScript(path) {
  const options = { ...typescript, filename: path, swcrc: false, sourceMaps: true };
  const { code, map } = await transform(await readFile(path, 'utf8'), options);
  const mapFile = `${mapFolder}${path}.map`;
  await mkdir(dirname(mapFile), { recursive: true });
  await writeFile(mapFile, map);
  return code;
}
