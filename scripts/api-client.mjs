// `npm run api-client`: updates libs/api-client from the controllers.
import { spawnSync } from 'node:child_process';

function run(command, args) {
  return spawnSync(command, args, { stdio: 'inherit', shell: process.platform === 'win32' }).status;
}

// After a change that breaks callers of the client the type check fails here; the API description is written all the
// same.
run('npx', ['nest', 'build']);
const steps = [
  ['dist/apps/aggregator/src/write-api-description.js', 'libs/api-client/openapi.json'],
  ['libs/api-client/generate.mjs'],
];
for (const step of steps) {
  const status = run(process.execPath, step);
  if (status !== 0) process.exit(status ?? 1);
}
