/*
 * npm run cluster [-- ci] [-- part of the name of the events to run]
 *
 * Three replicas on one PostgreSQL behind a round-robin balancer without stickiness, and users of every kind at 300
 * calls a second, while replicas are stopped, killed, frozen and cut off, PostgreSQL restarts, and all three are
 * replaced. Prints for each event what became of the calls:
 *
 *   failed       answered with an error, or not at all
 *   doubled      executed more than once
 *   crossed      answered with what belongs to another call
 *   misdirected  executed by a process of a STDIO server that another one has followed: it runs once in the cluster
 *   dishonest    told "not executed" although it was, or answered although it was not executed
 *   begun         sessions that clients had to begin again
 *   stale, gap   the longest time that a replica showed what was so before a write, and that no replica led, in ms
 *
 * Goals: 0 failed and 0 doubled while replicas are stopped as supervisors do; otherwise at most 1 % failed, with an
 * honest outcome, and 0 doubled; stale at most 1 s, gap at most 10 s. A leader that alone has lost the database shows
 * what it knows until its lease has run out: stale at most 6 s then, with the time until the balancer has heard.
 *
 * `ci` makes 40 calls a second in the events that take less than half a minute, and takes three minutes. It judges what
 * must not happen on a slow machine either: 0 doubled, crossed and dishonest, no term with two holders, and at most a
 * tenth failed while replicas are stopped as supervisors do.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { register, temporaryFolder } from '../faults/service.mjs';
import { Cluster } from './cluster.mjs';
import { Load } from './load.mjs';
import { RestUser, SessionUser, StatelessUser } from './users.mjs';
import { Watch } from './watch.mjs';

const REPLICAS = 3;
const words = process.argv.slice(2);
const isCi = words.includes('ci');
const part = words.filter((word) => word !== 'ci').join(' ');
const CALLS_PER_SECOND = Number(process.env.CLUSTER_CALLS_PER_SECOND ?? (isCi ? 40 : 300));
const SETTLE_MS = 6_000;
const FREEZE_MS = 60_000;
const CUT_MS = 12_000;
const LEASE_MS = 5_000;
const GOALS = isCi
  ? { failedOfStop: 0.1, failedOfCrash: 1, stale: Infinity, gap: Infinity, misdirected: Infinity }
  : { failedOfStop: 0, failedOfCrash: 0.01, stale: 1_000, gap: 10_000, misdirected: 0 };
const LEDGER = join(import.meta.dirname, 'ledger.mjs');

/** A user of each kind for each server. */
const KINDS = ['remote', 'program'].flatMap((server) => [
  [RestUser, server, 'add'],
  [StatelessUser, server, 'add'],
  [StatelessUser, server, 'steps'],
  [StatelessUser, server, 'ask'],
  [SessionUser, server, 'add'],
  [SessionUser, server, 'steps'],
  [SessionUser, server, 'ask'],
]);

const EVENTS = [
  { name: 'nothing happens', isGraceful: true, happen: () => sleep(SETTLE_MS) },
  {
    name: 'the leader is stopped',
    isGraceful: true,
    happen: (all) => replace(all, () => all.leader()),
  },
  {
    name: 'a follower is stopped',
    isGraceful: true,
    happen: (all) => replace(all, () => all.follower()),
  },
  {
    name: 'the leader is killed',
    isGraceful: false,
    happen: (all) => lose(all, () => all.leader()),
  },
  {
    name: 'a follower is killed',
    isGraceful: false,
    happen: (all) => lose(all, () => all.follower()),
  },
  {
    name: 'the leader is frozen for 60 s',
    isGraceful: false,
    isLong: true,
    happen: (all) => freeze(all, FREEZE_MS),
  },
  {
    name: 'the leader loses the database',
    isGraceful: false,
    mostStale: LEASE_MS,
    happen: (all) => cutOff(all, 'cut'),
  },
  {
    name: 'the network of the leader swallows all bytes',
    isGraceful: false,
    mostStale: LEASE_MS,
    happen: (all) => cutOff(all, 'hold'),
  },
  { name: 'PostgreSQL restarts', isGraceful: false, happen: (all) => all.restartPostgres() },
  { name: 'all replicas are replaced, one by one', isGraceful: true, happen: roll },
];

async function replace(all, choose) {
  const old = await choose();
  await all.add();
  await all.stop(old);
}

async function lose(all, choose) {
  await all.kill(await choose());
  await sleep(SETTLE_MS * 2);
  await all.add();
}

async function freeze(all, ms) {
  const { service } = await all.leader();
  service.child.kill('SIGSTOP');
  await sleep(ms);
  service.child.kill('SIGCONT');
}

async function cutOff(all, how) {
  const { proxy } = await all.leader();
  proxy[how]();
  await sleep(CUT_MS);
  proxy.heal();
}

async function roll(all) {
  for (const old of [...all.replicas]) await replace(all, () => old);
}

const folder = temporaryFolder();
const files = ['http', 'stdio'].map((kind) => join(folder, `${kind}.ledger`));
for (const file of files) writeFileSync(file, '');
const peer = spawn(process.execPath, [LEDGER, 'http', files[0]], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
process.once('exit', () => peer.kill('SIGKILL'));
const [base_url] = await once(createInterface({ input: peer.stdout }), 'line');

const wanted = EVENTS.filter(({ name, isLong }) => name.includes(part) && !(isCi && isLong));
const names = KINDS.map((_, i) => `user-${i}`);
const cluster = new Cluster(names);
await cluster.start(REPLICAS);
const http = { transport_type: 'HTTP', connection_config: { base_url } };
const program = { command: process.execPath, args: [LEDGER, 'stdio', files[1]] };
await register(cluster.entry, 'remote', http);
await register(cluster.entry, 'program', { transport_type: 'STDIO', connection_config: program });
const renamed = await register(cluster.entry, 'renamed-0', http);

const users = KINDS.map(
  ([User, server, tool], i) => new User(cluster.entryOf(names[i]), server, tool),
);
const restarts = () => users.reduce((sum, user) => sum + (user.restarts ?? 0), 0);
const load = new Load(users, 'program');
const watch = new Watch(cluster, renamed);
const begun = {};
load.event = watch.event = 'starting';
load.start(CALLS_PER_SECOND);
watch.start();
await sleep(2_000);
for (const { name, happen } of wanted) {
  const before = restarts();
  load.event = watch.event = name;
  await happen(cluster);
  await sleep(SETTLE_MS);
  begun[name] = restarts() - before;
  console.error(`${name}: over`);
}
load.event = watch.event = 'ending';
await Promise.all([load.end(), watch.end()]);
await cluster.end();

const judged = load.judge(files);
let missed = 0;
console.log(
  'event | calls | failed | doubled | crossed | misdirected | dishonest | begun | stale | gap |',
);
for (const { name, isGraceful, mostStale = 0 } of wanted) {
  const sum = judged.get(name);
  const stale = watch.longestStale[name] ?? 0;
  const gap = watch.longestGap[name] ?? 0;
  const mostFailed = sum.calls * (isGraceful ? GOALS.failedOfStop : GOALS.failedOfCrash);
  const isMet =
    sum.failed <= mostFailed &&
    sum.doubled + sum.crossed + sum.dishonest === 0 &&
    sum.misdirected <= GOALS.misdirected &&
    stale <= GOALS.stale + mostStale &&
    gap <= GOALS.gap;
  if (!isMet) missed++;
  const { calls, failed, doubled, crossed, misdirected, dishonest } = sum;
  const numbers = [
    calls,
    failed,
    doubled,
    crossed,
    misdirected,
    dishonest,
    begun[name],
    stale,
    gap,
  ];
  console.log([name, ...numbers, isMet ? 'ok' : 'MISSED'].join(' | '));
  const reasons = [...sum.reasons].sort((a, b) => b[1] - a[1]).slice(0, 8);
  for (const [why, times] of reasons) console.log(`    ${times} × ${why}`);
}
console.log(`terms of leadership with two holders: ${watch.doubleTerms}`);
console.log(`${wanted.length - missed} passed, ${missed + watch.doubleTerms} failed`);
process.exit(missed + watch.doubleTerms > 0 ? 1 : 0);
