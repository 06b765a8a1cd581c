// `npm run real:restarts`, after `npm run real:install`: 20 servers from npm behind the built service with
// MCP_AGGREGATOR_TRUST=pinned, each restarted 20 times. Prints what was withheld, and exits with 1 if anything was: a
// server that lists the same tools after a restart must never wait for approval.
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, launchOf, SERVERS } from './real.mjs';
import { startService } from './service.mjs';

const WANTED = 20;
const RESTARTS = Number(process.env.RESTARTS ?? 20);
const AT_ONCE = 3;
const API = '/api/v1/aggregator';

const folder = mkdtempSync(join(tmpdir(), 'switchboard-restarts-'));
const mark = randomUUID();
const service = await startService(join(folder, 'data'), { MCP_AGGREGATOR_TRUST: 'pinned' });
try {
  const up = [];
  const candidates = SERVERS.filter((one) => isInstalled(one)).values();
  await together(async () => {
    for (const server of candidates) {
      if (up.length >= WANTED) return;
      const one = await register(server);
      if (one) up.push(one);
    }
  });
  const chosen = up.slice(0, WANTED);
  const queue = chosen.values();
  await together(async () => {
    for (const one of queue) await restart(one);
  });
  const { total, approvals } = await service.rest('GET', `${API}/approvals?limit=500`);
  const restarts = chosen.reduce((sum, one) => sum + one.restarts, 0);
  const tools = chosen.reduce((sum, one) => sum + one.tools, 0);
  console.log(
    `${chosen.length} servers with ${tools} tools, ${restarts} restarts, ${total} alarms`,
  );
  for (const { server_name, name, fields } of approvals) {
    console.log(`${server_name} ${name}: ${fields.join(', ')}`);
  }
  process.exitCode = total > 0 || restarts < chosen.length * RESTARTS ? 1 : 0;
} finally {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
}

/** Undefined for a server that does not start here, or lists nothing. */
async function register(server) {
  const home = join(folder, server.name);
  mkdirSync(home, { recursive: true });
  const { id } = await service.register(server.name, launchOf(server, home, mark));
  const { status } = await connect(id);
  const { tool_count: tools } = await service.server(id);
  console.error(`${server.name}: ${status}, ${tools} tools`);
  return status === 'CONNECTED' && tools > 0
    ? { id, name: server.name, tools, restarts: 0 }
    : undefined;
}

async function restart(one) {
  for (let i = 0; i < RESTARTS; i++) {
    await service.rest('POST', `${API}/servers/${one.id}/disconnect`, { force: true });
    const { status } = await connect(one.id);
    if (status === 'CONNECTED') one.restarts++;
    else console.error(`${one.name}: ${status} after restart ${i + 1}`);
  }
  console.error(`${one.name}: ${one.restarts} restarts`);
}

function connect(id) {
  return service.rest('POST', `${API}/servers/${id}/connect?wait_seconds=60`);
}

function together(work) {
  return Promise.all(Array.from({ length: AT_ONCE }, work));
}
