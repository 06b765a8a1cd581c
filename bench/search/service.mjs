import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApp } from '../../dist/apps/aggregator/src/create-app.js';
import { ClassificationWorker } from '../../dist/libs/classification/src/classify/classification-worker.js';
import { SkillMap } from '../../dist/libs/classification/src/index.js';
import { IndexToolsOnCatalogueReplaced } from '../../dist/libs/catalogue/src/refresh/index-tools.on-catalogue-replaced.js';
import { Catalogue } from '../../dist/libs/catalogue/src/index.js';
import { Database, parseEnv } from '../../dist/libs/platform/src/index.js';

const TOKEN = 'bench-token-of-this-run';
const ROWS_PER_INSERT = 1_000;

/**
 * The whole service on its own embedded database, with these tools stored as if discovered. `prepare` may write more
 * rows before the service reads them.
 */
export async function startService(tools, settings = {}, prepare = async () => {}) {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-bench-'));
  const app = await createApp(
    parseEnv({
      MCP_AGGREGATOR_PORT: '0',
      MCP_AGGREGATOR_DATA_DIR: folder,
      MCP_AGGREGATOR_LOG_LEVEL: 'error',
      MCP_AGGREGATOR_TOKENS: `bench:admin:${TOKEN}`,
      MCP_AGGREGATOR_RATE_LIMIT: '0',
      MCP_AGGREGATOR_MAX_TOOLS: '1000000',
      // The servers of these rows do not exist, so connecting is disabled.
      MCP_AGGREGATOR_ENABLED: 'false',
      ...settings,
    }),
  );
  await app.listen(0, '127.0.0.1');
  const classification = app.get(ClassificationWorker, { strict: false });
  // The service has one tool of its own.
  await classification.request();
  await insert(app.get(Database, { strict: false }).direct, tools);
  await prepare(app);
  const started = performance.now();
  await app.get(Catalogue, { strict: false }).reload();
  const catalogueMs = performance.now() - started;
  await app.get(IndexToolsOnCatalogueReplaced, { strict: false }).request();
  const vectorsMs = performance.now() - started - catalogueMs;
  const classifying = performance.now();
  await classification.request();
  const classificationMs = performance.now() - classifying;
  await app.get(Catalogue, { strict: false }).reload();
  await app.get(SkillMap, { strict: false }).refresh();
  await app.get(IndexToolsOnCatalogueReplaced, { strict: false }).request();
  const url = await app.getUrl();
  return {
    app,
    url,
    token: TOKEN,
    catalogueMs,
    vectorsMs,
    classificationMs,
    search: (body) => call(url, 'POST', '/api/v1/search', body),
    call: (method, path, body) => call(url, method, path, body),
    close: async () => {
      await app.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function call(url, method, path, body) {
  const answer = await fetch(url + path, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return text ? JSON.parse(text) : undefined;
}

async function insert(database, tools) {
  const servers = new Map();
  for (const tool of tools) {
    if (!servers.has(tool.server)) servers.set(tool.server, randomUUID());
  }
  await database.query(
    `INSERT INTO mcp.external_servers (id, name, transport_type, connection_config, status)
     SELECT id, name, 'STDIO', '{}', 'CONNECTED' FROM unnest($1::uuid[], $2::text[]) AS s (id, name)`,
    [[...servers.values()], [...servers.keys()]],
  );
  for (let start = 0; start < tools.length; start += ROWS_PER_INSERT) {
    const batch = tools.slice(start, start + ROWS_PER_INSERT);
    await database.query(
      `INSERT INTO mcp.tools (name, original_name, source_server_id, is_external, description,
                              input_schema, definition, content_hash)
       SELECT t.name, t.original_name, t.server_id, true, t.description, t.schema::json,
              json_build_object('name', t.original_name, 'title', t.title, 'description', t.description,
                                'inputSchema', t.schema::json),
              md5(t.name)
       FROM unnest($1::text[], $2::text[], $3::uuid[], $4::text[], $5::text[], $6::text[])
         AS t (name, original_name, server_id, description, schema, title)`,
      [
        // The id in the set, to map a result back to the tool of the set.
        batch.map((tool) => tool.id),
        batch.map((tool) => tool.name),
        batch.map((tool) => servers.get(tool.server)),
        batch.map((tool) => tool.description ?? ''),
        batch.map((tool) => JSON.stringify(tool.input_schema ?? { type: 'object' })),
        batch.map((tool) => tool.title ?? tool.annotations?.title ?? null),
      ],
    );
  }
}
