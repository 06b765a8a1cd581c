// Loaded into the service by `--import`: SIGUSR2 collects garbage and writes the bytes that are in use on the heap and
// outside to FAULTS_MEMORY_FILE.
import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread } from 'node:worker_threads';

const file = process.env.FAULTS_MEMORY_FILE;

if (isMainThread && file && process.argv[1]?.endsWith('main.js')) {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc');
  process.on('SIGUSR2', () => {
    collect();
    collect();
    const { heapUsed, external } = process.memoryUsage();
    writeFileSync(file, `${heapUsed + external}\n`);
  });
}
