import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LoadCatalogueOnStart } from '../../dist/libs/catalogue/src/refresh/load-catalogue.on-start.js';
import { startService } from '../search/service.mjs';

/** Time of later starts to load catalogue, lexical index and vectors of this many tools into memory. */
export async function measureStarts(tools, rounds) {
  const folder = await mkdtemp(join(tmpdir(), 'switchboard-bench-start-'));
  const settings = { MCP_AGGREGATOR_DATA_DIR: folder };
  const loading = timed(LoadCatalogueOnStart.prototype, 'onApplicationBootstrap');
  const made = Array.from({ length: tools }, (_, i) => ({
    id: `books-${i % 20}.read_page_${i}`,
    server: `books-${i % 20}`,
    name: `read_page_${i}`,
    description: `Reads page ${i} of a book about flowers, with notes and pictures`,
    input_schema: { type: 'object', properties: { mark: { type: 'string' } } },
  }));
  await (await startService(made, settings)).close();
  loading.length = 0;
  for (let round = 0; round < rounds; round++) await (await startService([], settings)).close();
  await rm(folder, { recursive: true, force: true });
  return loading;
}

function timed(prototype, method) {
  const times = [];
  const original = prototype[method];
  prototype[method] = async function (...args) {
    const started = performance.now();
    const before = process.cpuUsage();
    await original.apply(this, args);
    const { user, system } = process.cpuUsage(before);
    times.push({
      wallMs: Math.round(performance.now() - started),
      cpuMs: Math.round((user + system) / 1_000),
    });
  };
  return times;
}
