import { InvalidArgumentError } from '@commander-js/extra-typings';
import { usageError } from './exit-codes.js';

/** Parsers of option values; what they refuse is wrong usage. */
export function count(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new InvalidArgumentError('It must be a whole number above 0.');
  return Number(text);
}

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !(value >= 0 && value <= 60)) {
    throw new InvalidArgumentError('It must be a number of seconds from 0 to 60.');
  }
  return value;
}

/** For an option that may be given several times. */
export function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

export function pairOf(text: string, separator: string): readonly [string, string] {
  const at = text.indexOf(separator);
  if (at < 1) throw usageError(`${text} must read NAME${separator}value`);
  return [text.slice(0, at), text.slice(at + separator.length)];
}

export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** How far a grant or a token reaches on a view. */
export const LEVELS = ['read', 'call_read_only', 'call'] as const;
export type Level = (typeof LEVELS)[number];

const SECONDS = new Map([
  ['s', 1],
  ['m', 60],
  ['h', 3_600],
  ['d', 86_400],
]);

/** In seconds. */
export function duration(text: string): number {
  const [, number, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const length = SECONDS.get(unit);
  if (length === undefined) {
    throw new InvalidArgumentError('It must be a number followed by s, m, h or d, such as 30d.');
  }
  return Number(number) * length;
}
