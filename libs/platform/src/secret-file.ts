import { closeSync, fsyncSync, linkSync, openSync, rmSync, writeSync } from 'node:fs';

/**
 * Makes a file that only its owner reads, whole and on the disk or not at all, also when the machine
 * stops in the middle. False when it was there already; then it stays as it is.
 */
export function createSecretFile(file: string, text: string): boolean {
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, 'w', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}
