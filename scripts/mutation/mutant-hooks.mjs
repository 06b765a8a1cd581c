// Module hooks: the files that run.mjs made mutants of, in the place of their sources.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

let folder;

export function initialize(data) {
  ({ folder } = data);
}

export async function load(url, context, next) {
  if (!url.startsWith('file:')) return next(url, context);
  const file = `${join(folder, 'sources', fileURLToPath(url.split('?')[0]))}.js`;
  if (!existsSync(file)) return next(url, context);
  return { format: 'module', source: await readFile(file, 'utf8'), shortCircuit: true };
}
