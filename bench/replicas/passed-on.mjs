// node bench/replicas/passed-on.mjs: what a call costs that another replica owns. One connection, one call at a time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Balancer } from '../../test/cluster/balancer.mjs';
import { Cluster, eventually } from '../../test/cluster/replicas.mjs';
import { startPostgres } from '../calls/postgres.mjs';

const SERVER = join(process.cwd(), 'test/fixtures/peer-v1.mjs');
const CALLS = 1_500;
const ROUNDS = 5;
const token = 'a-token-for-this-measurement';
const folder = mkdtempSync(join(tmpdir(), 'switchboard-passed-on-'));
const postgres = await startPostgres();
const { DATABASE_URL } = await postgres.newDatabase('passed');
const balancer = new Balancer();
await balancer.listen();
const cluster = new Cluster(folder, DATABASE_URL, token, balancer);
const [leader, follower] = [await cluster.add(), await cluster.add()];
balancer.close();
try {
  await measure();
} finally {
  await cluster.stop();
  await postgres.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function measure() {
  const config = { command: process.execPath, args: [SERVER, 'stdio'] };
  const server = { name: 'peer', transport_type: 'STDIO', connection_config: config };
  await post(leader, '/api/v1/aggregator/servers', server);
  for (const one of [leader, follower]) {
    await eventually(async () => (await rest(one)).status === 200, 'the server is called');
  }
  const session = await initialize(leader);
  const ways = {
    'a session, ping, at its owner': () => ping(leader, session),
    'a session, ping, passed on': () => ping(follower, session),
    'a STDIO server over REST, at the leader': () => rest(leader),
    'a STDIO server over REST, passed on': () => rest(follower),
  };
  const found = Object.fromEntries(Object.keys(ways).map((name) => [name, []]));
  for (let round = 0; round <= ROUNDS; round++) {
    for (const [name, call] of Object.entries(ways)) {
      const startedAt = performance.now();
      for (let i = 0; i < CALLS; i++) await call();
      const microseconds = ((performance.now() - startedAt) / CALLS) * 1_000;
      if (round > 0) found[name].push(Math.round(microseconds)); // the first one warms up
    }
  }
  for (const [name, times] of Object.entries(found)) {
    console.log(`${name}: ${times.toSorted((a, b) => a - b)[ROUNDS >> 1]} µs`);
  }
}

async function post({ url }, path, body, more = {}) {
  const response = await fetch(url + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...more,
    },
    body: JSON.stringify(body),
  });
  await response.text();
  return response;
}

function rest(replica) {
  return post(replica, '/api/v1/tools/call', { name: 'peer.echo', arguments: { text: 'hi' } });
}

function ping(replica, session) {
  const message = { jsonrpc: '2.0', id: 1, method: 'ping' };
  return post(replica, '/mcp', message, { 'mcp-session-id': session });
}

async function initialize(replica) {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'bench', version: '1' },
  };
  const message = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  return (await post(replica, '/mcp', message)).headers.get('mcp-session-id');
}
