import { readFile } from 'node:fs/promises';
import { text as textOf } from 'node:stream/consumers';
import { usageError } from './exit-codes.js';

/** The text of a file, or of standard input for `-`. */
export async function readInput(file: string): Promise<string> {
  if (file === '-') return textOf(process.stdin);
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    throw usageError(`${isMissing ? 'There is no file' : 'Cannot read the file'} ${file}`);
  }
}

export type JsonMembers = Record<string, unknown>;

/** Parses a JSON object that a user wrote; `what` names it in the refusal. */
export function objectIn(text: string, what: string): JsonMembers {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw usageError(`${what} is not valid JSON: ${error instanceof Error ? error.message : ''}`);
  }
  if (!isMembers(value)) throw usageError(`${what} must be a JSON object`);
  return value;
}

export function isMembers(value: unknown): value is JsonMembers {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
