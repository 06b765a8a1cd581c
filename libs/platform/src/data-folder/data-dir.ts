import { accessSync, constants, mkdirSync } from 'node:fs';
import { errorCode } from '../errors/error-code.js';
import type { HolderRecord } from './holder-record.js';

/** Shown at start when the folder cannot be used; the operator has to fix it. */
export abstract class DataDirError extends Error {}

export class DataDirInUse extends DataDirError {
  constructor(dataDir: string, holder: HolderRecord | undefined, address: string | undefined) {
    const who = holder
      ? [`host ${holder.host}`, `process ${holder.pid}`, `since ${holder.since}`]
      : ['its record cannot be read'];
    const at = address === undefined ? '' : `, listening on ${address}`;
    super(
      holder?.state === 'stopping'
        ? `Another Switchboard already uses the data folder ${dataDir} (${who.join(', ')}). It is shutting down: start again when it has ended.`
        : `Another Switchboard already uses the data folder ${dataDir} (${who.join(', ')}${at}). Stop it, or give this one its own folder with MCP_AGGREGATOR_DATA_DIR.`,
    );
  }
}

/** `part` is the path that the system refused, which may be a file in the folder. */
export class DataDirUnusable extends DataDirError {
  constructor(dataDir: string, part: string, cause: unknown) {
    super(
      `The data folder ${dataDir} cannot be used: ${reasonOf(cause)} on ${part}. ${remedyFor(cause)}`,
      { cause },
    );
  }
}

/** Part of the build, not of the data folder: copied by the first start. */
export class TemplateUnreadable extends DataDirError {
  constructor(template: string, cause: unknown) {
    super(
      `The embedded database of a first start cannot be copied: ${reasonOf(cause)} on ${template}. Make the installation readable for ${user()} (chmod -R a+rX), or set DATABASE_URL.`,
      { cause },
    );
  }
}

export function makeDataDir(dataDir: string): void {
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new DataDirUnusable(dataDir, dataDir, error);
  }
}

function reasonOf(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.message : 'unknown reason');
}

function remedyFor(error: unknown): string {
  switch (errorCode(error)) {
    case 'EACCES':
    case 'EPERM':
      return `It has to belong to ${user()}: chown -R it, or name another folder with MCP_AGGREGATOR_DATA_DIR.`;
    case 'EROFS':
      return 'It is mounted read-only: mount it for writing, or name another folder with MCP_AGGREGATOR_DATA_DIR.';
    case 'ENOSPC':
    case 'EDQUOT':
      return 'Its disk is full: make room, or name another folder with MCP_AGGREGATOR_DATA_DIR.';
    case 'EMFILE':
    case 'ENFILE':
      return 'No file descriptors are left: raise the limit (ulimit -n).';
    default:
      return 'Name another folder with MCP_AGGREGATOR_DATA_DIR, or mend this one.';
  }
}

function user(): string {
  const uid = process.getuid?.();
  return uid === undefined ? 'the user of this process' : `user id ${uid}`;
}
