import { readFileSync } from 'node:fs';

/*
 * Must be the first import and import no other module of the service: an older Node otherwise fails with an unrelated stack.
 * `scripts/node-floor.mjs` is the same check before a build.
 */
const text = readFileSync(new URL('../../../../../package.json', import.meta.url), 'utf8');
const [, floor = '0'] = /"node": *">=([\d.]+)"/.exec(text) ?? [];
/** The version of this program. */
export const [, version = ''] = /"version": *"([^"]+)"/.exec(text) ?? [];
const numbers = (version: string): readonly number[] => version.split('.').map(Number);
const [major = 0, minor = 0] = numbers(process.version.slice(1));
const [leastMajor = 0, leastMinor = 0] = numbers(floor);

if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(
    `Switchboard needs Node ${floor} or newer, and this is Node ${process.version.slice(1)}. Get a newer one at https://nodejs.org.`,
  );
  process.exit(1);
}
