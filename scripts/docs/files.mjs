import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** Installed, built or generated files, and the vocabulary of an embedding model. */
const SKIPPED = /(^|\/)(\.git|node_modules|dist|model)$|^(data|coverage)$/;
const READ = /\.(md|ts|mjs|cjs|js|ya?ml|sh|sql|wat)$|(^|\/)(Dockerfile|\.env\.example)$/;

/**
 * Every file of a folder by its path with slashes: the text of hand-written files, undefined for all others. Includes
 * folders, because links may target them.
 */
export function readFiles(root) {
  const files = new Map();
  const walk = (folder) => {
    files.set(folder === '' ? '.' : folder, undefined);
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = posix.join(folder, entry.name);
      if (SKIPPED.test(path)) continue;
      if (entry.isDirectory()) walk(path);
      else files.set(path, READ.test(path) ? readFileSync(join(root, path), 'utf8') : undefined);
    }
  };
  walk('');
  return files;
}
