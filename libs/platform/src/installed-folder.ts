import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A folder of this repository that is data, not code, so that no build copies it. Found upwards from
 * the asking module, which runs from `libs/` under Jest and from `dist/libs/` when built.
 */
export function installedFolder(path: string, askedBy: string): string {
  for (let folder = dirname(fileURLToPath(askedBy)); ; folder = dirname(folder)) {
    const candidate = join(folder, path);
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) throw new Error(`The folder ${path} is not installed`);
  }
}
