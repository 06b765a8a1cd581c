import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { errorCode } from '../errors/error-code.js';

/**
 * Creates a file with owner-only permissions atomically and durably, also across a power failure. False when it exists
 * already; then it is unchanged.
 */
export function createSecretFile(file: string, text: string): boolean {
  const draft = draftOf(file, text);
  try {
    linkSync(draft, file);
    syncFolder(dirname(file));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A file that is written atomically and that this process can tell from one written by another process. */
export class OwnFile {
  private written: Stats | undefined;

  constructor(private readonly path: string) {}

  /** Replaces an existing file. */
  write(text: string): void {
    const draft = draftOf(this.path, text);
    try {
      const written = statSync(draft);
      renameSync(draft, this.path);
      this.written = written;
    } finally {
      rmSync(draft, { force: true });
    }
  }

  /** Does nothing when the file was replaced or removed since. */
  remove(): void {
    const found = statSync(this.path, { throwIfNoEntry: false });
    const isOwn =
      found && this.written && isSameFile(found, this.written) && isUnchanged(found, this.written);
    if (isOwn) rmSync(this.path);
    this.written = undefined;
  }
}

/** File systems give the inode of a removed file to the next one. */
function isUnchanged(one: Stats, other: Stats): boolean {
  return one.mtimeMs === other.mtimeMs;
}

export function isSameFile(one: Stats, other: Stats): boolean {
  return one.ino === other.ino && one.dev === other.dev;
}

/** A random name: two containers on one folder often have the same process id. */
function draftOf(file: string, text: string): string {
  const draft = `${file}.${randomUUID()}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    writeSync(descriptor, text);
    fsyncSync(descriptor);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
  return draft;
}

/** A new name is durable only after its folder is synced; Windows does so itself and rejects the request. */
function syncFolder(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
