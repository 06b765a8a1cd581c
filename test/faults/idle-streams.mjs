// T4: memory for each of 2,000 idle streams, standing streams of sessions and `subscriptions/listen` in halves:
//   node test/faults/idle-streams.mjs [streams=2000]
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  mcpSession,
  modern,
  modernHeaders,
  open,
  register,
  row,
  startService,
  stdio,
  TOKENS,
} from './service.mjs';

const STREAMS = Number(process.argv[2] ?? 2_000);
const MAX_KB = 40;
/**
 * Streams opened before the measurement, so that loaded modules, compiled code and garbage of the start do not count.
 */
const WARM = 500;
const AT_ONCE = 25;
const SETTLE_MS = 12_000;
const READINGS = 9;
const USERS = [TOKENS.ada, TOKENS.bob, TOKENS.eve];

const service = await startService({ nodeOptions: '--max-semi-space-size=64' });
const agent = new http.Agent({ keepAlive: false });
try {
  await register(service, 'peer', {
    transport_type: 'STDIO',
    connection_config: stdio('offers.mjs', 'name=peer', 'file:///notes'),
  });
  await openStreams(WARM);
  const before = await settledRss();
  const streams = await openStreams(STREAMS);
  const after = await settledRss();
  const closed = streams.filter((response) => response.closed).length;
  const kb = (after - before) / STREAMS / 1_024;
  const ok = closed === 0 && kb <= MAX_KB;
  const measured = `${kb.toFixed(1)} KB${closed > 0 ? `, ${closed} were closed` : ''}`;
  row('T4', `${STREAMS.toLocaleString('en')} idle streams`, `≤ ${MAX_KB} KB each`, measured, ok);
} finally {
  await service.stop();
}
process.exit();

async function openStreams(count) {
  const streams = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      const i = next++;
      const token = USERS[i % USERS.length];
      streams.push(await (i % 2 === 0 ? standing(token) : listening(token, i)));
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return streams;
}

async function standing(token) {
  const session = await mcpSession(service, token);
  return (await session.get()).response;
}

async function listening(token, id) {
  const notifications = { toolsListChanged: true, resourceSubscriptions: ['file:///notes'] };
  const message = { id, method: 'subscriptions/listen', params: { notifications } };
  const response = await open(service, 'POST', '/mcp', {
    body: modern(message),
    token,
    headers: modernHeaders(message),
    agent,
  });
  if (response.statusCode !== 200) throw new Error(`listen: ${response.statusCode}`);
  return response.resume();
}

/** Garbage cannot be collected from outside: the median of several later readings. */
async function settledRss() {
  await sleep(SETTLE_MS);
  const readings = [];
  for (let i = 0; i < READINGS; i++) {
    readings.push(service.rss());
    await sleep(250);
  }
  return readings.sort((a, b) => a - b)[Math.floor(READINGS / 2)];
}
