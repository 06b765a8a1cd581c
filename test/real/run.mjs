// `npm run real`, after `npm run real:install`: servers from npm behind the built service. Prints a report, with
// `-- --write` also to docs/real-servers.md, and exits with 1 when a rule is broken; the rules are in report.mjs.
// `-- name name` runs only these servers.
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { LISTINGS } from './clients.mjs';
import { listDirectly, listThrough } from './direct.mjs';
import { CLIENTS, isInstalled, launchOf, NODE_24, REAL_DIR, SERVERS } from './real.mjs';
import { problemsOf, reportOf } from './report.mjs';
import { startService, until } from './service.mjs';

/** Servers that start at the same time; most take a second of a processor. */
const AT_ONCE = 3;
const SETTLES_WITHIN_MS = 180_000;
const GONE_WITHIN_MS = 20_000;
const REPORT = new URL('../../docs/real-servers.md', import.meta.url);

const options = process.argv.slice(2);
const wanted = options.filter((option) => !option.startsWith('--'));
const servers = SERVERS.filter(({ name }) => wanted.length === 0 || wanted.includes(name));
const missing = [...CLIENTS, ...servers].filter((one) => !isInstalled(one));
if (missing.length > 0 || !existsSync(NODE_24)) {
  const names = missing.map((one) => one.package).join(', ');
  console.error(`Not installed in ${REAL_DIR}: ${names}. Run: npm run real:install`);
  process.exit(1);
}

const mark = randomUUID();
const folder = mkdtempSync(join(tmpdir(), 'switchboard-real-'));
/** An empty home, which is also the working folder: some servers name it in their tools. */
const homeOf = (name) => {
  const home = join(folder, name);
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home, { recursive: true });
  return home;
};

const direct = await mapAtOnce(servers, async (server) => {
  const listed = await listDirectly(launchOf(server, homeOf(server.name), mark));
  console.error(`${server.name} directly: ${listed.error ?? `${listed.tools.length} tools`}`);
  return listed;
});
await until(() => left().length === 0, 'the servers end', GONE_WITHIN_MS).catch(() => undefined);
const leftDirectly = left();

const service = await startService(join(folder, 'data'));
try {
  const ids = await mapAtOnce(servers, register);
  const states = await Promise.all(ids.map((id) => stateOf(id)));
  const through = await mapAtOnce(servers, async (server, i) =>
    states[i].isUp
      ? listThrough(`${service.url}/mcp/servers/${server.name}`, service.token).catch(String)
      : undefined,
  );
  const rows = servers.map((server, i) => ({
    server,
    direct: direct[i],
    state: states[i],
    isSame: isDeepStrictEqual(through[i], direct[i].tools),
    through: through[i],
  }));
  const aggregate = await listThrough(`${service.url}/mcp`, service.token);
  const clients = await listWithClients();
  await service.stop();
  await until(() => left().length <= leftDirectly.length, 'all end', GONE_WITHIN_MS).catch(
    () => undefined,
  );
  const processes = left().filter((pid) => !leftDirectly.includes(pid));
  const results = { rows, aggregate, clients, processes };
  const problems = problemsOf(results);
  const report = reportOf(results);
  console.log(report);
  if (options.includes('--write')) await writeFile(REPORT, report);
  for (const problem of problems) console.error(`BROKEN: ${problem}`);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await service.stop();
  for (const pid of left()) process.kill(pid, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
}

async function register(server) {
  const { id } = await service.register(server.name, launchOf(server, homeOf(server.name), mark));
  const isSettled = async () => {
    const { status, tool_count, warnings } = await service.server(id);
    return (
      status === 'ERROR' || (status === 'CONNECTED' && (tool_count > 0 || warnings.length > 0))
    );
  };
  await until(isSettled, `${server.name} connects`, SETTLES_WITHIN_MS).catch(() => undefined);
  console.error(`${server.name} through the service: ${(await service.server(id)).status}`);
  return id;
}

/** A server whose tools could not be read is connected, and its warnings say why. */
async function stateOf(id) {
  const { status, tool_count, warnings, error_message } = await service.server(id);
  const isUp = status === 'CONNECTED' && tool_count > 0;
  const reason = isUp ? null : (error_message ?? warnings.join('; '));
  return { isUp, status, tool_count, warnings, reason };
}

async function listWithClients() {
  const found = [];
  for (const [name, list] of Object.entries(LISTINGS)) {
    const home = homeOf('client');
    const result = await list(`${service.url}/mcp`, service.token, home).then(
      (names) => ({ name, names }),
      (error) => ({ name, error: String(error.stderr || error.message).slice(0, 1_000) }),
    );
    console.error(`${name}: ${result.error ?? `${result.names.length} tools`}`);
    found.push(result);
  }
  return found;
}

/** Processes that carry the mark of this run: servers, and what they started. */
function left() {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => {
      try {
        return pid > 0 && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(mark);
      } catch {
        return false; // it has ended
      }
    });
}

async function mapAtOnce(items, map) {
  const results = [];
  const queue = items.entries();
  const next = async () => {
    for (const [i, item] of queue) results[i] = await map(item, i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, next));
  return results;
}
