// T6: every hostile input of inputs.mjs in turn, in a heap of 512 MB: the service keeps serving, and holds at the
// end hardly more than before. node test/faults/memory.mjs [part of the name of the inputs to feed] [seconds=20]
// An input may take so many seconds, and `/health` a quarter of them.
import { setTimeout as sleep } from 'node:timers/promises';
import { inputs } from './inputs.mjs';
import {
  callTool,
  LONGEST_SCRIPT_MS,
  mcpSession,
  register,
  rest,
  row,
  startService,
  stdio,
  TOKENS,
} from './service.mjs';

const HEAP = '--max-old-space-size=512';
const MAX_GROWTH_MB = 100;
/** Collections come late on a busy machine. */
const SETTLE_MS = 60_000;
const LONGEST_INPUT_MS = Number(process.argv[3] ?? 20) * 1_000;
/** Time to settle. */
const FEED_WITHIN_MS = LONGEST_SCRIPT_MS - 68_000;
const HEALTH_WITHIN_MS = LONGEST_INPUT_MS / 4;
const MB = 1_024 ** 2;

const chosen = inputs.filter(([name]) => name.includes(process.argv[2] ?? ''));
const isVerbose = process.env.FAULTS_VERBOSE === '1';
const service = await startService({ nodeOptions: HEAP });
const problems = [];
try {
  const before = await warmUp();
  for (const [name, feed] of chosen) {
    const startedAt = performance.now();
    if (startedAt > FEED_WITHIN_MS) {
      problems.push(`no time left for ${String(name)}`);
      continue;
    }
    const problem = (await outcome(feed)) ?? (await healthProblem());
    if (problem) problems.push(`${String(name)}: ${String(problem)}`);
    if (service.isEnded()) break;
    if (isVerbose) {
      const seconds = (performance.now() - startedAt) / 1_000;
      console.error(
        `${String(name)}: ${seconds.toFixed(1)} s, ${(service.rss() / MB).toFixed(0)} MB`,
      );
    }
  }
  const growthMb = service.isEnded() ? Number.NaN : await settledGrowth(before);
  const isSmall = growthMb <= MAX_GROWTH_MB;
  const said = problems.length > 0 ? `; ${problems.join('; ')}` : '';
  row(
    'T6',
    `${chosen.length} hostile inputs in a heap of 512 MB`,
    `survived, RSS ≤ ${MAX_GROWTH_MB} MB above the start`,
    `${growthMb.toFixed(0)} MB above ${(before / MB).toFixed(0)} MB${said}`,
    problems.length === 0 && isSmall,
  );
  if (service.isEnded()) console.error(service.output().slice(-3_000));
} finally {
  await service.stop();
}
process.exit();

/** Memory in use after all code has run once. */
async function warmUp() {
  await register(service, 'peer', {
    transport_type: 'STDIO',
    connection_config: stdio('hostile.mjs', 'stdio', '{}'),
  });
  const call = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'peer__echo' } };
  for (let i = 0; i < 20; i++) {
    const session = await mcpSession(service, TOKENS.bob);
    for (let n = 0; n < 20; n++) await session.post(call);
    await callTool(service, 'peer.echo', { text: 'hello' });
  }
  await rest(service, 'POST', '/api/v1/search', { query: 'echo' });
  await rest(service, 'POST', '/api/v1/aggregator/query', { query: 'echo' });
  await sleep(3_000);
  return service.rss();
}

/** Undefined when the input was handled in time. */
async function outcome(feed) {
  const tooLong = new AbortController();
  try {
    await Promise.race([
      feed(service),
      sleep(LONGEST_INPUT_MS, undefined, { signal: tooLong.signal }).then(() => {
        throw new Error(`took more than ${LONGEST_INPUT_MS / 1_000} s`);
      }),
    ]);
    return undefined;
  } catch (error) {
    return service.isEnded() ? 'the service ended' : error.message;
  } finally {
    tooLong.abort();
  }
}

async function healthProblem() {
  const answer = await Promise.race([
    rest(service, 'GET', '/health').catch((error) => ({ status: error.message })),
    sleep(HEALTH_WITHIN_MS, { status: 'nothing' }, { ref: false }),
  ]);
  return answer.status === 200 ? undefined : `/health answers with ${answer.status}`;
}

/**
 * As soon as it is below the limit, at the latest after the time to settle; in MB. Meanwhile there are calls, because
 * V8 does not collect the buffers of an idle process.
 */
async function settledGrowth(before) {
  const text = 'x'.repeat(200_000);
  const end = performance.now() + SETTLE_MS;
  for (;;) {
    const growth = (service.rss() - before) / MB;
    if (growth <= MAX_GROWTH_MB || performance.now() > end) return growth;
    for (let i = 0; i < 20; i++) await callTool(service, 'peer.echo', { text });
    await sleep(300);
  }
}
