// The service of latency-report.mjs in a process of its own: answers on IPC when it is ready.
import { randomFillSync } from 'node:crypto';
import { textOfTool } from '../../dist/libs/catalogue/src/index.js';
import { Database } from '../../dist/libs/platform/src/index.js';
import { ToolVectorStore } from '../../dist/libs/vectors/src/spaces/tool-vector.store.js';
import { StaticModel, ToolVectors, VectorItem } from '../../dist/libs/vectors/src/index.js';
import { startService } from './service.mjs';
import { corpusOf } from './sets.mjs';

const [folder, size, model] = process.argv.slice(2);
const MINILM_DIMENSIONS = 384;
const ROWS_PER_WRITE = 500;

const tools = corpusOf(folder, Number(size));
const settings = { EMBEDDINGS_LOCAL_MODEL: model };
const started = performance.now();
const service = await startService(tools, settings, model === 'static' ? undefined : storeVectors);
process.send({ url: service.url, token: service.token, startMs: performance.now() - started });
process.on('message', () => process.send({ rssMb: process.memoryUsage.rss() / 2 ** 20 }));
process.on('disconnect', () => process.exit());

/** MiniLM takes 30 ms a tool; random vectors in its rows take a search as long as its own. */
async function storeVectors(app) {
  const get = (type) => app.get(type, { strict: false });
  const { modelId } = get(ToolVectors);
  const dimensions = MINILM_DIMENSIONS + get(StaticModel).dimensions;
  const stored = await get(Database).direct.query(
    `SELECT t.id, t.name, t.original_name, t.title, t.description, t.input_schema, s.name AS server
     FROM mcp.tools t JOIN mcp.external_servers s ON s.id = t.source_server_id`,
  );
  for (let start = 0; start < stored.length; start += ROWS_PER_WRITE) {
    const rows = stored.slice(start, start + ROWS_PER_WRITE).map((row) => {
      const serverName = row.name.slice(0, -row.original_name.length - 1);
      const { title, description, input_schema: inputSchema, original_name: originalName } = row;
      const tool = { serverName, originalName, title, description, inputSchema };
      const { textHash } = new VectorItem(row.id, () => textOfTool(tool), {});
      return { toolId: row.id, textHash, vector: randomUnit(dimensions) };
    });
    await get(ToolVectorStore).save(modelId, rows);
  }
}

function randomUnit(dimensions) {
  const vector = Float32Array.from(
    randomFillSync(new Int32Array(dimensions)),
    (value) => value / 2 ** 31,
  );
  const length = Math.hypot(...vector);
  return vector.map((value) => value / length);
}
