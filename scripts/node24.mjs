import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/*
 * `npm run node24 [-- specs]`: runs specs on Node 24. By default all without I/O, and those that start the service and the
 * command line as their own processes: Node 24 splits lines and ends streams differently from the floor.
 * `npm run node24 -- .` runs all. Node is the `node` package that the conformance suite needs too, from npm.
 */

const path = (file) => fileURLToPath(new URL(`../${file}`, import.meta.url));
const node = path('conformance/node_modules/node/bin/node');
const SPECS = [
  String.raw`(apps|libs)/((?!\.(int|fuzz)\.).)*\.spec\.ts$`,
  'apps/aggregator/src/cli/stdio-bridge',
  'test/flow/(stdio-lines|register-to-call|command-line)',
];

if (!existsSync(node)) run('npm', ['ci', '--prefix', 'conformance']);
const given = process.argv.slice(2);
const flags = ['--experimental-vm-modules', path('node_modules/jest/bin/jest.js')];
run(node, [...flags, ...(given.length > 0 ? given : SPECS)]);

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: path('.'), stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
