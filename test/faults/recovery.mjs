/*
 * node test/faults/recovery.mjs [scale=1]
 *
 * T9: servers over HTTP are killed and started again on their port, servers over STDIO are killed with -9 and started
 * again by the service, 20 times each (five servers of a kind, four times each), while calls keep asking every 20 ms.
 * Measured is the time until the first call succeeds: over HTTP from when the server listens again, over STDIO from
 * the kill.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { callTool, fixture, register, row, startService, stdio, until } from './service.mjs';

const SERVERS = 5;
const KILLS = 4;
/** Between servers, so that the measurement does not include their common start-up. */
const APART_MS = 200;
const ASK_EVERY_MS = 20;
const MOST_ASKING = 20;
/** How long a server is healthy between two kills, and how long one over HTTP is down. */
const HEALTHY_MS = 500;
const GONE_MS = 300;
const GOALS = { p50: 2_000, p99: 5_000 };
/** A server that has not recovered by then counts as this. */
const GIVE_UP_MS = 15_000;

const peers = new Set();
process.once('exit', () => peers.forEach((peer) => peer.kill('SIGKILL')));

/** Resolves with the address when it listens. */
async function listen(port = 0) {
  const peer = spawn(process.execPath, [fixture('peer-v1.mjs'), 'http', String(port)], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  peers.add(peer);
  const [url] = await once(createInterface({ input: peer.stdout }), 'line');
  return { url, peer };
}

async function end(peer) {
  const gone = once(peer, 'exit');
  peer.kill('SIGKILL');
  await gone;
  peers.delete(peer);
}

/** The Node processes that were given `marker` in their environment, without their wrappers. */
function nodesWith(marker) {
  return readdirSync('/proc').filter((pid) => {
    try {
      return (
        readFileSync(`/proc/${pid}/environ`, 'latin1').includes(marker) &&
        readlinkSync(`/proc/${pid}/exe`) === readlinkSync('/proc/self/exe')
      );
    } catch {
      return false; // no process, or already gone
    }
  });
}

/** Calls continuously whatever the responses are; `next()` resolves with the time of the next success. */
function keepAsking(service, name) {
  let asking = 0;
  let succeeded = () => undefined;
  const ask = async () => {
    if (asking >= MOST_ASKING) return;
    asking++;
    try {
      const { status } = await callTool(service, `${name}.echo`, { text: 'back' });
      if (status === 200) succeeded(performance.now());
    } finally {
      asking--;
    }
  };
  const timer = setInterval(() => void ask().catch(() => undefined), ASK_EVERY_MS);
  const next = () => new Promise((resolve) => (succeeded = resolve));
  return { next, stop: () => clearInterval(timer) };
}

async function measured(asker, since) {
  const givenUp = sleep(GIVE_UP_MS, since + GIVE_UP_MS, { ref: false });
  return (await Promise.race([asker.next(), givenUp])) - since;
}

async function overHttp(service, name, kills) {
  let { url, peer } = await listen();
  await register(service, name, { transport_type: 'HTTP', connection_config: { base_url: url } });
  const asker = keepAsking(service, name);
  const times = [];
  for (let i = 0; i < kills; i++) {
    await sleep(HEALTHY_MS);
    await end(peer);
    await sleep(GONE_MS);
    ({ peer } = await listen(new URL(url).port));
    times.push(await measured(asker, performance.now()));
  }
  asker.stop();
  return times;
}

async function overStdio(service, name, kills) {
  const marker = `${name}-${process.pid}`;
  const connection_config = { ...stdio('peer-v1.mjs', 'stdio'), env: { FAULTS_MARK: marker } };
  await register(service, name, { transport_type: 'STDIO', connection_config });
  const asker = keepAsking(service, name);
  const times = [];
  for (let i = 0; i < kills; i++) {
    await sleep(HEALTHY_MS);
    const killed = await until(() => {
      const running = nodesWith(`FAULTS_MARK=${marker}`);
      return running.length > 0 && running;
    }, `${name} has a process to kill`);
    for (const pid of killed) process.kill(Number(pid), 'SIGKILL');
    const since = performance.now();
    // Ignores responses of the old process.
    await sleep(ASK_EVERY_MS);
    times.push(await measured(asker, since));
  }
  asker.stop();
  return times;
}

function percentile(times, share) {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)];
}

const kills = Math.max(1, Math.round(KILLS * Number(process.argv[2] ?? 1)));
const service = await startService();
const each = (run, kind) =>
  Promise.all(
    Array.from({ length: SERVERS }, async (_, i) => {
      await sleep(i * APART_MS);
      return run(service, `${kind}-${i}`, kills);
    }),
  );
const results = {};
for (const [kind, run] of [
  ['http', overHttp],
  ['stdio', overStdio],
]) {
  const times = (await each(run, kind)).flat();
  results[kind] = { times, p50: percentile(times, 0.5), p99: percentile(times, 0.99) };
  if (process.env.VERBOSE) console.error(kind, times.map(Math.round).join(' '));
}
await service.stop();
peers.forEach((peer) => peer.kill('SIGKILL'));

const seconds = (ms) => `${(ms / 1_000).toFixed(2)} s`;
const said = ([kind, { times, p50, p99 }]) =>
  `${kind} p50 ${seconds(p50)}, p99 ${seconds(p99)} of ${times.length}`;
row(
  'T9',
  'a server back after a restart, with calls asking',
  `p50 <= ${GOALS.p50 / 1_000} s, p99 <= ${GOALS.p99 / 1_000} s`,
  Object.entries(results).map(said).join('; '),
  Object.values(results).every(({ p50, p99 }) => p50 <= GOALS.p50 && p99 <= GOALS.p99),
);
process.exit();
