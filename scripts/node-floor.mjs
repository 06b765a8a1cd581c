// Runs before all other modules: an older Node otherwise fails at the first import with an unrelated stack.
import { readFileSync } from 'node:fs';

const { engines } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const floor = engines.node.replace(/^>=/, '');
const [major, minor] = process.version.slice(1).split('.').map(Number);
const [leastMajor, leastMinor = 0] = floor.split('.').map(Number);

if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(
    `Switchboard needs Node ${floor} or newer, and this is Node ${process.version.slice(1)}. Get a newer one at https://nodejs.org.`,
  );
  process.exit(1);
}
