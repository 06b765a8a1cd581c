// T16: while the inputs of inputs.mjs are fed, nothing holds up the service for longer than 50 ms.
//   node test/faults/loop.mjs [part of the name of the inputs to feed]
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inputs } from './inputs.mjs';
import {
  callTool,
  LONGEST_SCRIPT_MS,
  register,
  row,
  startService,
  stdio,
  temporaryFolder,
  until,
} from './service.mjs';

const MAX_BLOCK_MS = 50;
const FEED_WITHIN_MS = LONGEST_SCRIPT_MS - 15_000;
const LONGEST_INPUT_MS = 12_000;

const chosen = inputs.filter(([name]) => name.includes(process.argv[2] ?? ''));
const isVerbose = process.env.FAULTS_VERBOSE === '1';
const file = join(temporaryFolder(), 'longest');
const probe = pathToFileURL(join(import.meta.dirname, 'loop-probe.mjs'));
const service = await startService({
  nodeOptions: `--max-semi-space-size=64 --import=${String(probe)}`,
  env: { FAULTS_LOOP_FILE: file },
});
try {
  await register(service, 'peer', {
    transport_type: 'STDIO',
    connection_config: stdio('hostile.mjs', 'stdio', '{}'),
  });
  for (let i = 0; i < 200; i++) await callTool(service, 'peer.echo', { text: 'hello' });
  await longestBlock();
  const blocks = [];
  for (const [name, feed] of chosen) {
    if (performance.now() > FEED_WITHIN_MS) break;
    const problem = await feedWithin(feed);
    blocks.push({ name, ms: await longestBlock() });
    if (isVerbose) console.error(name, blocks.at(-1).ms, problem ?? '');
  }
  const over = blocks.filter(({ ms }) => ms > MAX_BLOCK_MS).sort((a, b) => b.ms - a.ms);
  const [worst] = blocks.toSorted((a, b) => b.ms - a.ms);
  const told = (over.length > 0 ? over : [worst]).map(({ name, ms }) => `${ms} ms by ${name}`);
  row(
    'T16',
    `longest block by ${blocks.length} of ${chosen.length} hostile inputs`,
    `≤ ${MAX_BLOCK_MS} ms`,
    told.join('; '),
    over.length === 0 && blocks.length === chosen.length,
  );
} finally {
  await service.stop();
}
process.exit();

/** Failures of the input are reported by memory.mjs; here it only has to be sent. */
function feedWithin(feed) {
  const tooLong = sleep(LONGEST_INPUT_MS, 'took too long', { ref: false });
  return Promise.race([feed(service).catch((error) => error.message), tooLong]);
}

/** Since the previous reading. */
async function longestBlock() {
  rmSync(file, { force: true });
  service.child.kill('SIGUSR2');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'), 'the probe');
  return Number(readFileSync(file, 'utf8'));
}
