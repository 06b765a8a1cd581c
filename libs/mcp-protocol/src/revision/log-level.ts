import type { JsonValue } from '@app/platform';

/** From the least to the most severe. */
const levels = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;
export type LogLevel = (typeof levels)[number];

export function isLogLevel(value: JsonValue | undefined): value is LogLevel {
  return levels.some((level) => level === value);
}

/** Whether a client with the minimum level `least` receives messages of this level. */
export function admits(least: LogLevel | undefined, level: JsonValue | undefined): boolean {
  return least !== undefined && isLogLevel(level) && levels.indexOf(level) >= levels.indexOf(least);
}

export function moreTalkative(a: LogLevel, b: LogLevel): LogLevel {
  return levels.indexOf(a) < levels.indexOf(b) ? a : b;
}
