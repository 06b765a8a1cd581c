const STEPS: readonly (readonly [seconds: number, unit: string])[] = [
  [86_400, 'd'],
  [3_600, 'h'],
  [60, 'min'],
  [1, 's'],
];

/** `12 ms`, `1.4 s`, `25 min`, `3 h`, `6 d`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const [size, unit] = STEPS.find(([step]) => seconds >= step) ?? [1, 's'];
  return `${Math.floor(seconds / size)} ${unit}`;
}

/** How long ago, in one unit without decimals. */
export function age(ms: number): string {
  return ms < 1_000
    ? '0 s'
    : duration(Math.max(10_000, ms)).replace(/^10 s$/, `${Math.floor(ms / 1_000)} s`);
}

const units = ['B', 'kB', 'MB', 'GB'] as const;

export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit] ?? 'GB'}`;
}

export function percent(share: number): string {
  if (share === 0) return '0 %';
  if (share === 1) return '100 %';
  return `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
}

const numberFormat = new Intl.NumberFormat('en');

export function count(value: number): string {
  return numberFormat.format(value);
}

/** `1 server`, `3 servers`. */
export function plural(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

const timeFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const exactFormat = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

const shortFormat = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const dayFormat = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

/** `14:02`. */
export function shortTime(at: string | number | Date): string {
  return shortFormat.format(new Date(at));
}

/** `20 Nov`. */
export function shortDay(at: string | number | Date): string {
  return dayFormat.format(new Date(at));
}

export function clockTime(at: string | Date): string {
  return timeFormat.format(new Date(at));
}

export function exactTime(at: string | Date): string {
  return exactFormat.format(new Date(at));
}
