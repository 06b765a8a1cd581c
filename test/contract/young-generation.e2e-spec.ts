import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MODULE = resolve('dist/apps/aggregator/src/young-generation.js');
/** V8 alone gives it back after 16 s here, and in the service not even then. */
const GIVE_UP_MS = 12_000;
/** Some 2 MB of the garbage live on for a while, as what is under way does. */
const PROGRAM = `
  import { setTimeout as sleep } from 'node:timers/promises';
  import * as young from ${JSON.stringify(MODULE)};

  const MB = 1024 ** 2;
  function leaveGarbage() {
    const underWay = [];
    for (let i = 0; i < 3_000_000; i++) underWay[i % 20_000] = { i, of: [i] };
    return young.youngGenerationBytes() / MB;
  }
  young.startInLittleMemory();
  const starting = leaveGarbage();
  young.makeRoomForCalls();
  const busy = leaveGarbage();
  young.giveRoomBackWhenQuiet();
  const giveUp = Date.now() + ${GIVE_UP_MS};
  while (young.youngGenerationBytes() > 5 * MB && Date.now() < giveUp) await sleep(100);
  console.log(JSON.stringify({ starting, busy, quiet: young.youngGenerationBytes() / MB }));
`;

describe('the memory for what comes and goes', () => {
  it('is little while the service starts, much under load, and little again in quiet times', async () => {
    const argv = ['--max-semi-space-size=16', '--input-type=module', '--eval', PROGRAM];
    const { stdout, stderr } = await run(process.execPath, argv);
    const { starting, busy, quiet } = JSON.parse(stdout) as Record<string, number>;
    expect(starting).toBeLessThan(5);
    expect(busy).toBeGreaterThan(15);
    expect(quiet).toBeLessThan(5);
    expect(stderr).toBe('');
  });
});
