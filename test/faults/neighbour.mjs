/*
 * node test/faults/neighbour.mjs [part of the name of the floods to measure] [blocks=9]
 *
 * T15: what bob's calls of a quiet server take at most in 99 of 100 cases, alone and while ada calls a server that
 * floods: messages without a request, of five kinds, over three transports; and while ada calls another server on 64
 * connections as fast as it answers.
 *
 * Alone means through a second service, which ada does not use, at the same time: what the machine does with so many
 * programs on two processors affects both. The median of the ratios of several blocks counts. Bob calls at a constant
 * rate, whether the calls before are answered or not, so that a slow answer does not slow down the measurement.
 *
 * Ada's client and the servers that flood are programs on other machines. Here they run when nothing else does
 * (SCHED_IDLE).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  callTool,
  fixture,
  postModern,
  register,
  row,
  startService,
  stdio,
  TOKENS,
} from './service.mjs';

const MAX_RATIO = 2;
const FLOOD = 200;
const BUSY_CONNECTIONS = 64;
/** The 1 % above the p99 is five calls: one pause of the machine does not decide. */
const CALLS_PER_BLOCK = 500;
const CALL_EVERY_MS = 2;
/** Until V8 has compiled what a flood runs. */
const WARM_UP_BLOCKS = 3;
const BLOCKS = Number(process.argv[3] ?? 9);
/** They run before the first block, so that the flood has no credit left. */
const FLOODING_CALLS = 5;
const CALL_FLOOD = `calls on ${BUSY_CONNECTIONS} connections`;
const FLOODS = [
  { of: 'log', transport: 'STDIO' },
  { of: 'log', transport: 'HTTP' },
  { of: 'progress', transport: 'SSE' },
  { of: 'lists', transport: 'HTTP' },
  { of: 'junk', transport: 'STDIO' },
  { of: 'answers', transport: 'SSE' },
];

const WHEN_IDLE = ['chrt', '-i', '0'];
/**
 * The service gives each program a session of its own. Linux shares processors between sessions first, and has a
 * priority for each.
 */
const SESSION_WHEN_IDLE = `(echo 19 >/proc/self/autogroup) 2>/dev/null; exec ${WHEN_IDLE.join(' ')} "$0" "$@"`;
/** The argument that makes this script ada's client. */
const CLIENT = '--client';

const others = [];

async function measure() {
  process.once('exit', () => others.forEach((other) => other.kill('SIGKILL')));
  const part = process.argv[2] ?? '';
  const wanted = FLOODS.filter((flood) => nameOf(flood).includes(part));
  const service = await quietService();
  const alone = await quietService();
  try {
    const found = [];
    for (const flood of wanted) found.push(await besideFlood(service, alone, flood));
    const connection_config = stdio('hostile.mjs', 'stdio', '{}');
    await register(service, 'other', { transport_type: 'STDIO', connection_config });
    const busy = { tool: 'other__echo', connections: BUSY_CONNECTIONS };
    if (CALL_FLOOD.includes(part)) {
      found.push({ name: CALL_FLOOD, ...(await compare(service, alone, busy)) });
    }
    const over = found.filter(({ ratio }) => ratio > MAX_RATIO);
    const [worst] = found.toSorted((a, b) => b.ratio - a.ratio);
    const told = over.length > 0 || !worst ? over : [worst];
    row(
      'T15',
      `p99 of calls of a quiet server beside ${found.length} floods of another user`,
      `≤ ${MAX_RATIO}× alone at the same time`,
      told.map(describe).join('; '),
      over.length === 0,
    );
  } finally {
    await Promise.all([service.stop(), alone.stop()]);
  }
  process.exit();
}

async function quietService() {
  const service = await startService({ nodeOptions: '--max-semi-space-size=64' });
  const connection_config = stdio('hostile.mjs', 'stdio', '{}');
  await register(service, 'quiet', { transport_type: 'STDIO', connection_config });
  return service;
}

const nameOf = ({ of, transport }) => `${of} over ${transport}`;

const describe = ({ name, ratio, alone, beside }) =>
  `${ratio.toFixed(1)}× beside ${name} (${alone.toFixed(1)} → ${beside.toFixed(1)} ms)`;

async function besideFlood(service, alone, { of, transport }) {
  const name = nameOf({ of, transport });
  const server = `flooding-${of}-${transport.toLowerCase()}`;
  const options = { flood: FLOOD, floodOf: of, sse: true };
  const connection_config = await configOf(transport, options);
  await register(service, server, { transport_type: transport, connection_config });
  const found = await compare(service, alone, { tool: `${server}__echo`, connections: 1 });
  if (process.env.FAULTS_VERBOSE) console.error(describe({ name, ...found }));
  return { name, ...found };
}

async function configOf(transport, options) {
  const json = JSON.stringify(options);
  if (transport === 'STDIO') {
    const { command, args } = stdio('hostile.mjs', 'stdio', json);
    return { command: 'sh', args: ['-c', SESSION_WHEN_IDLE, command, ...args] };
  }
  const peer = other(
    ['ignore', 'pipe', 'ignore'],
    fixture('hostile.mjs'),
    transport.toLowerCase(),
    json,
  );
  const [url] = await once(createInterface({ input: peer.stdout }), 'line');
  return transport === 'SSE' ? { url } : { base_url: url };
}

/** A program that in reality runs on another machine. */
function other(stdio, ...args) {
  const program = spawn(WHEN_IDLE[0], [...WHEN_IDLE.slice(1), process.execPath, ...args], {
    stdio,
  });
  others.push(program);
  return program;
}

/** Medians of the p99 of blocks through both services, and of their ratios. */
async function compare(service, alone, { tool, connections }) {
  const { url } = service;
  const told = JSON.stringify({ url, tool, connections });
  const client = other(['ignore', 'inherit', 'inherit', 'ipc'], import.meta.filename, CLIENT, told);
  await once(client, 'message');
  const found = { alone: [], beside: [], ratio: [] };
  for (let i = -WARM_UP_BLOCKS; i < BLOCKS; i++) {
    const [p99, p99Alone] = await block([service, alone]);
    if (i < 0) continue;
    found.alone.push(p99Alone);
    found.beside.push(p99);
    found.ratio.push(p99 / p99Alone);
  }
  if (client.exitCode !== null) throw new Error(`ada's client ended: ${client.exitCode}`);
  client.kill();
  return Object.fromEntries(Object.entries(found).map(([key, values]) => [key, median(values)]));
}

/** The p99 of a block of bob's calls through each of `services`, in ms. */
async function block(services) {
  const startsAt = performance.now();
  const calls = services.map(() => []);
  for (let i = 0; i < CALLS_PER_BLOCK * services.length; i++) {
    const waitMs = startsAt + (i * CALL_EVERY_MS) / services.length - performance.now();
    if (waitMs > 0) await sleep(waitMs);
    calls[i % services.length].push(timed(services[i % services.length]));
  }
  return Promise.all(calls.map(async (each) => p99Of(await Promise.all(each))));
}

async function timed(service) {
  const startedAt = performance.now();
  const { status } = await callTool(service, 'quiet.echo', { text: 'x' }, TOKENS.bob);
  if (status !== 200) throw new Error(`a call of the quiet server is answered with ${status}`);
  return performance.now() - startedAt;
}

function p99Of(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)];
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Ada's calls, each as soon as the one before is answered. */
async function nag({ url, tool, connections }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const service = { url, agent, token: TOKENS.ada };
  let calls = 0;
  const loop = async () => {
    for (;;) {
      const params = { name: tool, arguments: { text: 'x' }, _meta: { progressToken: calls } };
      await postModern(service, { id: calls, method: 'tools/call', params });
      if (++calls === FLOODING_CALLS) process.send('flooding');
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
}

if (process.argv[2] === CLIENT) await nag(JSON.parse(process.argv[3]));
else await measure();
