const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;
const MAX_PAIRS = 64;
const MAX_CHARS = 1_024;

/**
 * Pairs of `key=value`, separated by commas and percent-encoded, as the settings of OpenTelemetry are written. The
 * position of the first unreadable one if there is one, from 1 on.
 */
export function keyValueList(
  text: string,
  kind: 'headers' | 'attributes',
): Readonly<Record<string, string>> | number {
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter(Boolean);
  const pairs: [string, string][] = [];
  for (const [i, entry] of entries.entries()) {
    const split = entry.indexOf('=');
    const key = entry.slice(0, Math.max(0, split)).trim();
    const value = decoded(entry.slice(split + 1).trim());
    const isReadable = key !== '' && value !== undefined && value.length <= MAX_CHARS;
    if (!isReadable || i >= MAX_PAIRS) return i + 1;
    if (kind === 'headers' && !(HEADER_NAME.test(key) && HEADER_VALUE.test(value))) return i + 1;
    pairs.push([kind === 'headers' ? key.toLowerCase() : key, value]);
  }
  return Object.fromEntries(pairs);
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
