import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MODULE = resolve('dist/apps/aggregator/src/start/young-generation.js');
/** V8 alone shrinks it after 16 s here, and in the service never. */
const GIVE_UP_MS = 12_000;
/** About 2 MB stay reachable for a while, like requests in flight. */
const PROGRAM = `
  import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises';
  import * as young from ${JSON.stringify(MODULE)};

  const room = () => young.roomBytes() / 1024 ** 2;
  const underWay = [];
  const kept = [];
  async function leaveGarbage(keep = 0) {
    for (let i = 0; i < 3_000_000; i++) {
      underWay[i % 20_000] = { i, of: [i] };
      if (i < keep) kept.push({ i, of: [i] });
      if (i % 20_000 === 0) await turn();
    }
    return room();
  }
  young.startInLittleMemory();
  const starting = await leaveGarbage();
  young.makeRoomForCalls();
  const busy = await leaveGarbage();
  const large = await leaveGarbage(2_500_000);
  young.giveRoomBackWhenQuiet();
  const giveUp = Date.now() + ${GIVE_UP_MS};
  while (room() > 2.2 && Date.now() < giveUp) await sleep(100);
  console.log(JSON.stringify({ starting, busy, large, quiet: room() }));
`;

describe('the young generation', () => {
  it('is small at start and when idle, large under load, and larger with a large heap', async () => {
    const argv = ['--max-semi-space-size=64', '--input-type=module', '--eval', PROGRAM];
    const { stdout, stderr } = await run(process.execPath, argv);
    const { starting, busy, large, quiet } = JSON.parse(stdout) as Record<string, number>;
    expect(starting).toBeLessThan(1.1);
    expect(busy).toBeGreaterThan(14);
    expect(busy).toBeLessThan(17);
    expect(large).toBeGreaterThan(30);
    expect(quiet).toBeLessThan(2.2);
    expect(stderr).toBe('');
  });
});
