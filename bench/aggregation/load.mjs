import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const answering = ['archive', 'docs', 'forum', 'notes', 'portal', 'wiki'];
const names = [...answering, 'dead', 'hang', 'huge', 'wrong'];
const question = 'How do I implement React hooks for state management?';

/** The built service in front of real MCP servers; all figures are measured from outside or read from /metrics. */
export async function measureLoad({ queries, concurrency }) {
  const library = await startLibrary();
  // In a separate process: serializing 20 MB repeatedly would block the other servers.
  const huge = await startLibrary();
  const dead = await startLibrary();
  const homes = { dead, huge };
  const service = await startService();
  try {
    for (const name of names) {
      await service.post('/api/v1/aggregator/servers', {
        name,
        transport_type: 'HTTP',
        connection_config: { base_url: `${(homes[name] ?? library).url}/${name}` },
      });
    }
    await service.connected(names.length);
    dead.child.kill();
    await service.post('/api/v1/aggregator/query', { query: question });
    const before = await (await fetch(`${library.url}/log`)).json();
    const peak = service.watchMemory();
    const answers = await inParallel(queries, concurrency, () =>
      service.post('/api/v1/aggregator/query', { query: question, servers: names }),
    );
    const memory = await peak.stop();
    const after = await (await fetch(`${library.url}/log`)).json();
    return {
      queries,
      concurrency,
      p50: at(answers, 0.5),
      p90: at(answers, 0.9),
      p99: at(answers, 0.99),
      failures: answers.filter(({ status }) => status !== 200).length,
      complete: answers.filter(({ body }) => isComplete(body)).length,
      askedInTruth: answering.reduce((sum, name) => sum + after[name] - (before[name] ?? 0), 0),
      askedByMetadata: answers.reduce((sum, { body }) => sum + asked(body), 0),
      mbAQuery: (memory.peakMb - memory.idleMb) / concurrency,
    };
  } finally {
    await service.stop();
    library.child.kill();
    huge.child.kill();
  }
}

const isComplete = (body) =>
  body.metadata?.serversQueried === names.length &&
  body.metadata.serversSucceeded === answering.length &&
  body.metadata.totalResultsDedup === 8;

const asked = (body) =>
  body.metadata?.servers.filter(({ name, tool }) => answering.includes(name) && tool).length ?? 0;

const at = (answers, share) => {
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  return Math.round(times[Math.ceil(times.length * share) - 1]);
};

async function inParallel(count, concurrency, work) {
  const results = [];
  let next = 0;
  const worker = async () => {
    while (next++ < count) results.push(await work());
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  return results;
}

async function startLibrary() {
  const child = spawn(process.execPath, ['test/fixtures/library.mjs'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, url };
}

async function startService() {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-bench-'));
  const token = randomBytes(24).toString('base64url');
  const child = spawn(process.execPath, ['dist/apps/aggregator/src/main.js'], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env.PATH,
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: folder,
      MCP_AGGREGATOR_LOG_LEVEL: 'error',
      MCP_AGGREGATOR_TOKENS: `bench:admin:${token}`,
    },
  });
  let url;
  while (!url) {
    await sleep(50);
    url = await readFile(join(folder, 'address'), 'utf8').catch(() => undefined);
  }
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const get = async (path) => (await fetch(url + path, { headers })).json();
  const residentMb = async () => {
    const text = await (await fetch(`${url}/metrics`, { headers })).text();
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1]) / 1e6;
  };
  return {
    post: async (path, body) => {
      const started = performance.now();
      const response = await fetch(url + path, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
      });
      const answer = await response.json();
      return { status: response.status, body: answer, ms: performance.now() - started };
    },
    connected: async (count) => {
      for (;;) {
        const { servers } = await get('/api/v1/aggregator/servers');
        if (servers.filter(({ tool_count }) => tool_count > 0).length === count) return;
        await sleep(50);
      }
    },
    watchMemory: () => {
      const samples = [];
      let watching = true;
      const loop = (async () => {
        while (watching) {
          samples.push(await residentMb());
          await sleep(200);
        }
      })();
      return {
        stop: async () => {
          watching = false;
          await loop;
          return { idleMb: samples[0], peakMb: Math.max(...samples) };
        },
      };
    },
    stop: async () => {
      child.kill('SIGTERM');
      await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
