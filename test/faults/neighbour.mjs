/*
 * node test/faults/neighbour.mjs [part of the name of the floods to measure] [pairs=7]
 *
 * T15: what bob's calls of a quiet server take at most in 99 of 100 cases, alone and while ada calls a server that
 * floods: messages without a request, of five kinds, over three transports. Blocks of calls alone and beside a flood
 * alternate, and the median of their ratios counts: whatever else the machine does affects both sides alike. For
 * comparison, and without a goal: beside 64 connections that call another server as fast as they can.
 *
 * Ada's client and the servers that flood are programs on other machines. Here they share the processors with the
 * service, so they run with the lowest priority: what counts is what the service does with a flood, not what the
 * scheduler of the kernel does with five programs on two processors.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import os from 'node:os';
import { createInterface } from 'node:readline';
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
const CALLS_PER_BLOCK = 120;
const PAIRS = Number(process.argv[3] ?? 7);
/** Of each pair: the flooding calls that run before a block, so that the flood has no credit left. */
const FLOODING_CALLS = 5;
const FLOODS = [
  { of: 'log', transport: 'STDIO' },
  { of: 'log', transport: 'HTTP' },
  { of: 'progress', transport: 'SSE' },
  { of: 'lists', transport: 'HTTP' },
  { of: 'junk', transport: 'STDIO' },
  { of: 'answers', transport: 'SSE' },
];

const LOWEST = os.constants.priority.PRIORITY_LOW;
/**
 * The service gives each program a session of its own. Linux shares processors between sessions first, and has a
 * priority for each.
 */
const AT_LOWEST = `(echo ${LOWEST} >/proc/self/autogroup) 2>/dev/null; exec nice -n ${LOWEST} "$0" "$@"`;
/** The argument that makes this script ada's client. */
const CLIENT = '--client';

const others = [];

async function measure() {
  process.once('exit', () => others.forEach((other) => other.kill('SIGKILL')));
  const wanted = FLOODS.filter((flood) => nameOf(flood).includes(process.argv[2] ?? ''));
  const service = await startService({ nodeOptions: '--max-semi-space-size=64' });
  try {
    for (const name of ['quiet', 'other']) {
      const connection_config = stdio('hostile.mjs', 'stdio', '{}');
      await register(service, name, { transport_type: 'STDIO', connection_config });
    }
    await block(service); // warm-up
    const found = [];
    for (const flood of wanted) found.push(await besideFlood(service, flood));
    const busy = await pairs(
      service,
      { tool: 'other__echo', connections: BUSY_CONNECTIONS },
      Math.min(PAIRS, 3),
    );
    const over = found.filter(({ ratio }) => ratio > MAX_RATIO);
    const [worst] = found.toSorted((a, b) => b.ratio - a.ratio);
    const told = over.length > 0 || !worst ? over : [worst];
    const all = [...told, { name: `${BUSY_CONNECTIONS} connections`, ...busy }];
    row(
      'T15',
      `p99 of calls of a quiet server beside ${found.length} floods of another user, peers at low priority`,
      `≤ ${MAX_RATIO}× alone`,
      all.map(describe).join('; '),
      over.length === 0,
    );
  } finally {
    await service.stop();
  }
  process.exit();
}

const nameOf = ({ of, transport }) => `${of} over ${transport}`;

const describe = ({ name, ratio, alone, beside }) =>
  `${ratio.toFixed(1)}× beside ${name} (${alone.toFixed(1)} → ${beside.toFixed(1)} ms)`;

/** What is over the goal is measured once more, with more pairs, unless a number of pairs was asked for. */
async function besideFlood(service, { of, transport }) {
  const server = `flooding-${of}-${transport.toLowerCase()}`;
  const options = { flood: FLOOD, floodOf: of, sse: true };
  const transport_type = transport;
  const connection_config = await configOf(transport, options);
  await register(service, server, { transport_type, connection_config });
  const neighbour = { tool: `${server}__echo`, connections: 1 };
  let found = await pairs(service, neighbour, PAIRS);
  if (found.ratio > MAX_RATIO && process.argv[3] === undefined)
    found = await pairs(service, neighbour, PAIRS * 2);
  if (process.env.FAULTS_VERBOSE)
    console.error(describe({ name: nameOf({ of, transport }), ...found }));
  return { name: nameOf({ of, transport }), ...found };
}

async function configOf(transport, options) {
  const json = JSON.stringify(options);
  if (transport === 'STDIO') {
    const { command, args } = stdio('hostile.mjs', 'stdio', json);
    return { command: 'sh', args: ['-c', AT_LOWEST, command, ...args] };
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
  const program = spawn(process.execPath, args, { stdio });
  os.setPriority(program.pid, LOWEST);
  others.push(program);
  return program;
}

/** Medians of the p99 of blocks alone and beside the neighbour, and of their ratios. */
async function pairs(service, { tool, connections }, count) {
  const { url } = service;
  const told = JSON.stringify({ url, tool, connections });
  const client = other(['ignore', 'inherit', 'inherit', 'ipc'], import.meta.filename, CLIENT, told);
  const failed = once(client, 'exit').then(([code]) => Promise.reject(new Error(`ended: ${code}`)));
  failed.catch(() => undefined);
  const hears = async (word) => {
    const heard = once(client, 'message');
    client.send(word);
    await Promise.race([heard, failed]);
  };
  const found = { alone: [], beside: [], ratio: [] };
  for (let i = 0; i < count; i++) {
    const alone = await block(service);
    await hears('start');
    const beside = await block(service);
    await hears('stop');
    found.alone.push(alone);
    found.beside.push(beside);
    found.ratio.push(beside / alone);
  }
  client.kill();
  return Object.fromEntries(Object.entries(found).map(([key, values]) => [key, median(values)]));
}

/** The p99 of a block of bob's calls, in ms. */
async function block(service) {
  const times = [];
  for (let i = 0; i < CALLS_PER_BLOCK; i++) {
    const startedAt = performance.now();
    const { status } = await callTool(service, 'quiet.echo', { text: 'x' }, TOKENS.bob);
    times.push(performance.now() - startedAt);
    if (status !== 200) throw new Error(`a call of the quiet server is answered with ${status}`);
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

/** Ada's calls, each as soon as the one before is answered, between `start` and `stop`. */
async function nag({ url, tool, connections }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const service = { url, agent, token: TOKENS.ada };
  for (;;) {
    await once(process, 'message');
    let isOver = false;
    let calls = 0;
    const loop = async () => {
      while (!isOver) {
        const params = { name: tool, arguments: { text: 'x' }, _meta: { progressToken: calls } };
        await postModern(service, { id: calls, method: 'tools/call', params });
        if (++calls === FLOODING_CALLS) process.send('flooding');
      }
    };
    const loops = Array.from({ length: connections }, loop);
    await once(process, 'message');
    isOver = true;
    await Promise.all(loops);
    process.send('over');
  }
}

if (process.argv[2] === CLIENT) await nag(JSON.parse(process.argv[3]));
else await measure();
