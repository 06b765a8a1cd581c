import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * A data folder of this repository, which no build copies. Searched upwards from the calling module, which runs from
 * `libs/` under Jest and from `dist/libs/` when built.
 */
export function installedFolder(path: string, askedBy: string): string {
  for (let folder = dirname(fileURLToPath(askedBy)); ; folder = dirname(folder)) {
    const candidate = join(folder, path);
    if (existsSync(candidate)) return candidate;
    if (folder === dirname(folder)) throw new Error(`The folder ${path} is not installed`);
  }
}
