// A service sends traces of all requests to a collector that refuses connections, one that accepts requests and never
// answers, and one that answers after nine seconds, while clients call. Compared with a service whose collector works:
// memory in use and failed calls. node test/faults/collector.mjs [seconds=60]
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  callTool,
  mcpSession,
  postModern,
  register,
  rest,
  row,
  startService,
  stdio,
  temporaryFolder,
  TOKENS,
  until,
} from './service.mjs';

const SECONDS = Number(process.argv[2] ?? 60);
const MAX_GROWTH_MB = 5;
/** Of each service; two spans each, so that the queue of 2,048 spans is full after half a minute. */
const CALLS_PER_SECOND = 36;
const WARM_UP_CALLS = 600;
const MB = 1_024 ** 2;
const PROBE = new URL('memory-probe.mjs', import.meta.url).href;

/** Milliseconds until a request is answered; Infinity is never. */
const collectors = { works: 0, silent: Infinity, slow: 9_000, refuses: undefined };

const services = [];
const servers = [];
try {
  for (const [name, delay] of Object.entries(collectors)) services.push(await begin(name, delay));
  await Promise.all(services.map((one) => one.run(WARM_UP_CALLS / CALLS_PER_SECOND)));
  for (const one of services) one.before = await one.held();
  await Promise.all(services.map((one) => one.run(SECONDS)));
  for (const one of services) one.after = await one.held();
  const [working, ...others] = services.map(({ name, before, after, service }) => ({
    name,
    growth: (after - before) / MB,
    rss: service.rss() / MB,
  }));
  const more = others.map(({ name, growth, rss }) => ({ name, rss, mb: growth - working.growth }));
  const failed = services.reduce((sum, one) => sum + one.failed, 0);
  const calls = services.reduce((sum, one) => sum + one.calls, 0);
  const dropped = [];
  for (const { service } of services) dropped.push(await droppedBy(service));
  const sizes = more.map(({ name, mb, rss }) => `${name} ${mb.toFixed(1)} (RSS ${rss.toFixed(0)})`);
  row(
    'collector',
    `a collector that is silent, slow or gone for ${SECONDS} s`,
    `≤ ${MAX_GROWTH_MB} MB more than with one that works, 0 failed calls`,
    `${sizes.join(', ')} MB, with one that works RSS ${working.rss.toFixed(0)} MB; ` +
      `${failed} of ${calls} calls failed; ${dropped.join('/')} spans dropped`,
    failed === 0 && more.every(({ mb }) => mb <= MAX_GROWTH_MB),
  );
} finally {
  for (const { service } of services) await service.stop();
  for (const server of servers) server.closeAllConnections();
}
process.exit();

async function begin(name, delay) {
  const endpoint = delay === undefined ? 'http://127.0.0.1:9' : await collector(delay);
  const folder = temporaryFolder();
  const file = join(folder, 'memory');
  const service = await startService({
    folder,
    nodeOptions: `--import ${PROBE}`,
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, FAULTS_MEMORY_FILE: file },
  });
  await register(service, 'peer', {
    transport_type: 'STDIO',
    connection_config: stdio('hostile.mjs', 'stdio', '{}'),
  });
  const session = await mcpSession(service, TOKENS.bob);
  const params = { name: 'peer__echo', arguments: { text: 'hello' } };
  const message = { id: 1, method: 'tools/call', params };
  const ways = [
    async () => (await session.post({ jsonrpc: '2.0', ...message })).message,
    async () => (await postModern(service, message, { token: TOKENS.eve })).message,
    async () => (await callTool(service, 'peer.echo', { text: 'hello' })).body,
  ];
  const one = { name, service, calls: 0, failed: 0 };
  one.run = async (seconds) => {
    const startedAt = performance.now();
    const total = seconds * CALLS_PER_SECOND;
    const calls = [];
    for (let i = 0; i < total; i++) {
      const due = startedAt + (i * 1_000) / CALLS_PER_SECOND;
      if (due > performance.now()) await sleep(due - performance.now());
      one.calls += 1;
      calls.push(
        ways[i % ways.length]().then(
          (answer) => (one.failed += JSON.stringify(answer).includes('hello') ? 0 : 1),
          () => (one.failed += 1),
        ),
      );
    }
    await Promise.all(calls);
  };
  one.held = async () => {
    rmSync(file, { force: true });
    service.child.kill('SIGUSR2');
    const text = () => existsSync(file) && readFileSync(file, 'utf8');
    const bytes = Number(await until(() => text() && text().endsWith('\n') && text()));
    rmSync(file);
    return bytes;
  };
  return one;
}

async function collector(delay) {
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      if (delay === Infinity) return;
      setTimeout(() => response.writeHead(200).end('{}'), delay).unref();
    });
  });
  servers.push(server);
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${server.address().port}`;
}

async function droppedBy(service) {
  const { body } = await rest(service, 'GET', '/metrics');
  const line = /^mcp_aggregator_spans_total\{outcome="dropped"\} (\d+)/m.exec(String(body));
  return Number(line?.[1] ?? 0);
}
