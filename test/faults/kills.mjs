/*
 * node test/faults/kills.mjs [kills=200] [embedded|postgres|both]
 *
 * Registers servers over REST, many at once, kills the service with -9 at a random moment, starts it again on the same
 * folder and database, and compares: every registration that was acknowledged has to be there, its history with it.
 * Prints one line; ends with 1 when one is missing. Needs `npm run build`.
 */
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startPostgres } from '../support/embedded-postgres.mjs';

const MAIN = 'dist/apps/aggregator/src/main.js';
const SERVERS = '/api/v1/aggregator/servers';
const START_WITHIN_MS = 60_000;
/** Concurrent registrations. */
const CLIENTS = 8;
/** A round ends soon after this many acknowledgements at most. */
const MOST_ACKNOWLEDGED = 60;
const LONGEST_DELAY_MS = 15;

const kills = Number(process.argv[2] ?? 200);
const which = process.argv[3] ?? 'both';
if (!Number.isInteger(kills) || kills < 1 || !['embedded', 'postgres', 'both'].includes(which)) {
  console.error('usage: node test/faults/kills.mjs [kills] [embedded|postgres|both]');
  process.exit(2);
}

class Run {
  acknowledged = new Set();
  missing = new Set();
  withoutHistory = new Set();
  kills = 0;

  constructor(name, folder, settings) {
    this.name = name;
    this.folder = folder;
    this.settings = settings;
  }

  async go(count) {
    for (let i = 0; i < count; i++) {
      const service = await start(this.folder, this.settings);
      try {
        if (i > 0) await this.compare(service);
        await this.registerUntilKilled(service, i);
      } finally {
        service.child.kill('SIGKILL');
        await service.exited;
      }
      this.kills++;
    }
    const service = await start(this.folder, this.settings);
    await this.compare(service);
    service.child.kill('SIGTERM');
    await service.exited;
  }

  async registerUntilKilled(service, round) {
    let number = 0;
    let isKilled = false;
    let left = 1 + Math.floor(Math.random() * MOST_ACKNOWLEDGED);
    const kill = () => {
      isKilled = true;
      service.child.kill('SIGKILL');
    };
    const client = async () => {
      while (!isKilled) {
        const name = `round-${round}-server-${number++}`;
        const answer = await service.send(SERVERS, {
          name,
          transport_type: 'HTTP',
          connection_config: { base_url: 'https://a.example/mcp' },
          auto_connect: false,
        });
        if (answer?.status !== 201) continue;
        if (--left === 0) setTimeout(kill, Math.random() * LONGEST_DELAY_MS);
        this.newest = answer.body.id;
        this.acknowledged.add(name);
      }
    };
    this.newest = undefined;
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  async compare(service) {
    const names = new Set();
    for (let total = 1, seen = 0; seen < total;) {
      const answer = await service.send(`${SERVERS}?limit=500&offset=${seen}`);
      if (answer?.status !== 200) throw new Error(`the list was answered with ${answer?.status}`);
      for (const server of answer.body.servers) names.add(server.name);
      total = answer.body.total;
      seen += answer.body.servers.length;
      if (answer.body.servers.length === 0) break;
    }
    for (const name of this.acknowledged) if (!names.has(name)) this.missing.add(name);
    if (!this.newest) return;
    const history = await service.send(`${SERVERS}/${this.newest}/history`);
    if (history?.body.events?.[0]?.event_type !== 'REGISTERED')
      this.withoutHistory.add(this.newest);
  }

  get isWhole() {
    return this.missing.size + this.withoutHistory.size === 0;
  }

  get report() {
    const { name, kills, acknowledged, missing, withoutHistory } = this;
    const history = withoutHistory.size > 0 ? `, ${withoutHistory.size} without history` : '';
    return `${name}: ${kills} kills, ${acknowledged.size} acknowledged, ${missing.size} lost${history}`;
  }
}

async function start(folder, settings) {
  const addressFile = join(folder, 'address');
  rmSync(addressFile, { force: true });
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: folder,
      MCP_AGGREGATOR_MAX_SERVERS: '10000',
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  const exited = new Promise((resolve) => child.once('exit', resolve));
  const deadline = performance.now() + START_WITHIN_MS;
  while (!existsSync(addressFile)) {
    if (child.exitCode !== null) throw new Error(`the service ended:\n${output}`);
    if (performance.now() > deadline) {
      child.kill('SIGKILL');
      throw new Error(`the service does not start:\n${output}`);
    }
    await sleep(10);
  }
  const url = readFileSync(addressFile, 'utf8');
  const token = readFileSync(join(folder, 'admin-token'), 'utf8').trim();
  const send = async (path, body) => {
    try {
      const answer = await fetch(url + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      });
      return { status: answer.status, body: await answer.json() };
    } catch {
      return undefined; // killed in the meantime
    }
  };
  return { child, exited, send };
}

const folders = [];
const folder = async () => {
  folders.push(await mkdtemp(join(tmpdir(), 'switchboard-kills-')));
  return folders.at(-1);
};
const postgres = which === 'embedded' ? undefined : await startPostgres();
const runs = [];
if (which !== 'postgres') runs.push(new Run('PGlite', await folder(), {}));
if (postgres) {
  const DATABASE_URL = `${postgres.url}/postgres`;
  const settings = { DATABASE_URL, MCP_CREDENTIAL_KEY: 'a-key-for-this-run-only' };
  runs.push(new Run('PostgreSQL', await folder(), settings));
}
let isWhole = false;
try {
  // Both databases concurrently, the kills divided between them.
  await Promise.all(runs.map((run) => run.go(Math.ceil(kills / runs.length))));
  isWhole = runs.every((run) => run.isWhole);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
} finally {
  await postgres?.stop();
  for (const path of folders) await rm(path, { recursive: true, force: true });
}
console.log(`kills: ${runs.map((run) => run.report).join('; ')}: ${isWhole ? 'ok' : 'FAILED'}`);
process.exit(isWhole ? 0 : 1);
