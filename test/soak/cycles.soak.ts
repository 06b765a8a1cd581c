import { connectUpstream, type UpstreamTarget } from '@app/mcp-client';
import { readdirSync } from 'node:fs';
import { fixture, processesWith } from '../support/peers.js';

const CYCLES = Number(process.env['SOAK_CYCLES'] ?? 1_000);
const AT_ONCE = 4;
const WARM_UP = 40;
const MAX_HEAP_GROWTH_MB = 10;
const MARK = `SWITCHBOARD_TEST_MARK=cycles-${process.pid}-${Date.now()}`;
const [markName = '', markValue = ''] = MARK.split('=');

const target: UpstreamTarget = {
  kind: 'STDIO',
  command: 'sh',
  args: ['-c', `"${process.execPath}" "$0" stdio '{"forks":true}'; true`, fixture('hostile.mjs')],
  env: { [markName]: markValue },
};

async function cycle(): Promise<void> {
  const session = await connectUpstream(target, {
    connectTimeoutMs: 30_000,
    maxAnswerBytes: 1_000_000,
    clientInfo: { name: 'soak', version: '0' },
    clientCapabilities: {},
    allowInsecureHttp: false,
  });
  await session.request(
    'tools/call',
    { name: 'echo', arguments: { text: 'x' } },
    { timeoutMs: 10_000 },
  );
  await session.close({ force: true });
}

async function run(cycles: number): Promise<void> {
  let left = cycles;
  const worker = async (): Promise<void> => {
    while (left-- > 0) await cycle();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const openFiles = (): number => readdirSync('/proc/self/fd').length;
const timers = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
function heapMb(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 1_048_576;
}

it(`${CYCLES} connections and disconnections leave nothing`, async () => {
  await run(WARM_UP);
  const before = { heap: heapMb(), files: openFiles(), timers: timers() };
  const startedAt = performance.now();
  await run(CYCLES);
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = { heap: heapMb(), files: openFiles(), timers: timers() };
  const processes = processesWith(MARK).length;
  process.stdout.write(
    `${CYCLES} cycles in ${seconds.toFixed(0)} s: processes left ${processes}, ` +
      `files ${before.files} -> ${after.files}, timers ${before.timers} -> ${after.timers}, ` +
      `heap ${before.heap.toFixed(1)} -> ${after.heap.toFixed(1)} MB\n`,
  );
  expect(processes).toBe(0);
  expect(after.files).toBeLessThanOrEqual(before.files);
  expect(after.timers).toBeLessThanOrEqual(before.timers);
  expect(after.heap - before.heap).toBeLessThan(MAX_HEAP_GROWTH_MB);
}, 900_000);
