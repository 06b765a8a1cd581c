// npm run bench:discovery
import { readFile, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { Database } from '../../dist/libs/platform/src/index.js';
import { IndexToolsOnCatalogueReplaced } from '../../dist/libs/catalogue/src/refresh/index-tools.on-catalogue-replaced.js';
import { startService } from '../search/service.mjs';
import { measureStarts } from './start.mjs';

const TOOLS = 1_000;
const ROUNDS = 5;
const TOOLS_AT_START = 10_000;
/** The text after this marker is written by hand: one such run takes half an hour. */
const BY_HAND = '\n## Crashes\n';
const file = new URL('../DISCOVERY.md', import.meta.url);
const peer = fileURLToPath(new URL('../../test/fixtures/many-tools.mjs', import.meta.url));

const service = await startService([], { MCP_AGGREGATOR_ENABLED: 'true' });
const database = service.app.get(Database, { strict: false }).direct;
const indexing = service.app.get(IndexToolsOnCatalogueReplaced, { strict: false });
const rows = (sql) => database.query(sql);

const first = [];
const again = [];
let rewritten = 0;
for (let round = 0; round < ROUNDS; round++) {
  const server = await service.call('POST', '/api/v1/aggregator/servers', {
    name: `book-${round}`,
    transport_type: 'STDIO',
    connection_config: { command: process.execPath, args: [peer, String(TOOLS)] },
  });
  const path = `/api/v1/aggregator/servers/${server.id}`;
  const done = await finished(path);
  // From the start of tools/list until the last vector is stored.
  await indexing.request();
  first.push(Date.now() - Date.parse(done.started_at));
  await settled(path);
  const before = await rowVersions();
  await service.call('POST', `${path}/tools/refresh`);
  const refreshed = await finished(path, done.started_at);
  again.push(Date.parse(refreshed.finished_at) - Date.parse(refreshed.started_at));
  await indexing.request();
  const after = await rowVersions();
  rewritten += after.filter((version, i) => version !== before[i]).length;
  await service.call('DELETE', path);
}
await service.close();
const starts = await measureStarts(TOOLS_AT_START, ROUNDS);
const wall = starts.map(({ wallMs }) => wallMs);
const cpu = starts.map(({ cpuMs }) => cpuMs);
const middle = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const kept = (await readFile(file, 'utf8').catch(() => '')).split(BY_HAND)[1] ?? '';
const text = `# Discovery: time, quiet and crashes

Written by \`npm run bench:discovery\` on Node ${process.version}, ${cpus()[0].model}; embedded database, ${ROUNDS} rounds.

| what | median | worst |
|---|---|---|
| ${TOOLS} tools of a new server: listing, rows, vectors, catalogue | ${middle(first)} ms | ${Math.max(...first)} ms |
| the same server refreshed, nothing changed | ${middle(again)} ms | ${Math.max(...again)} ms |
| ${TOOLS_AT_START} tools at a later start: catalogue, words and vectors in memory | ${middle(wall)} ms | ${Math.max(...wall)} ms |
| … of which time of the processor | ${middle(cpu)} ms | ${Math.max(...cpu)} ms |

Rows of tools and vectors written by ${ROUNDS} refreshes with nothing changed: ${rewritten}.
${BY_HAND}${kept}`;
console.log(text);
await writeFile(file, text);

async function finished(path, notStartedAt) {
  for (;;) {
    const state = await service.call('GET', `${path}/discovery`);
    if (state.phase === 'FAILED') throw new Error(state.error);
    if (state.phase === 'DONE' && state.started_at !== notStartedAt) return state;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Classification writes too; it must finish before rows are compared. */
async function settled(path) {
  for (;;) {
    const waiting = await rows(
      'SELECT 1 FROM mcp.tools t LEFT JOIN mcp.tool_classifications c ON c.tool_id = t.id WHERE c.tool_id IS NULL OR c.due_at IS NOT NULL LIMIT 1',
    );
    const state = await service.call('GET', `${path}/discovery`);
    if (waiting.length === 0 && state.published === TOOLS) break;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  await indexing.request();
}

/** `xmin` is the transaction that wrote a row. */
async function rowVersions() {
  const versions = await rows(
    `SELECT 'tool ' || id || ' ' || xmin AS version FROM mcp.tools
     UNION ALL SELECT 'vector ' || tool_id || ' ' || xmin FROM mcp.tool_vectors ORDER BY 1`,
  );
  return versions.map((row) => row.version);
}
