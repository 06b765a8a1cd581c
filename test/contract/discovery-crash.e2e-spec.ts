import { type FailPoint, failPoints } from '@app/platform';
import pg from 'pg';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { createDatabase } from '../support/postgres.js';
import { launch, type ServiceProcess, startProcess } from '../support/service-process.js';

/** More of them with CRASH_ROUNDS. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 1);
const TOOLS = 700;

describe.each(failPoints)('kill -9 at %s', (point) => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let settings: Record<string, string>;
  let database: pg.Client;

  beforeEach(async () => {
    folder = await temporaryFolder();
    settings = {
      DATABASE_URL: await createDatabase(),
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
    };
    database = new pg.Client({ connectionString: settings['DATABASE_URL'] });
    await database.connect();
  });
  afterEach(async () => {
    await database.end();
    await folder.remove();
  });

  const counted = async (sql: string): Promise<number> =>
    Number((await database.query<{ count: string }>(sql)).rows[0]?.count);

  it.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
    'leaves rows, catalogue and vectors equal within 10 s of the next start (round %i)',
    async () => {
      await crashAt(point, folder.path, settings);
      const service = await startProcess(folder.path, settings);
      try {
        if ((await counted('SELECT count(*) FROM mcp.external_servers')) === 0) {
          await register(service);
        }
        await eventually(async () => {
          expect(await counted('SELECT count(*) FROM mcp.tools')).toBe(TOOLS);
          expect(await counted('SELECT count(*) FROM mcp.tool_vectors')).toBe(TOOLS);
          const { token } = service;
          const listed = await send(service.url, '/api/v1/aggregator/tools?limit=1', { token });
          expect(listed.body).toMatchObject({ total: TOOLS });
          const body = JSON.stringify({ query: `read page ${TOOLS - 1} about flowers` });
          const found = await send(service.url, '/api/v1/search', { method: 'POST', token, body });
          expect(found.body).toMatchObject({
            tools: expect.arrayContaining([
              expect.objectContaining({ name: `book.read_page_${TOOLS - 1}` }),
            ]),
            metadata: { external_tools_count: TOOLS, degraded: false },
          });
        }, 10_000);
      } finally {
        service.child.kill('SIGKILL');
        await service.exited;
      }
    },
    60_000,
  );
});

/** Discovers until the process kills itself at the point. */
async function crashAt(
  point: FailPoint,
  folder: string,
  settings: Record<string, string>,
): Promise<void> {
  const armed = { ...settings, MCP_AGGREGATOR_FAIL_POINT: point };
  if (point === 'catalogue.read') {
    expect(await launch(folder, armed).exited).toBe('SIGKILL'); // read at every start
    return;
  }
  const service = await startProcess(folder, armed);
  await register(service);
  expect(await service.exited).toBe('SIGKILL');
}

async function register(service: ServiceProcess): Promise<void> {
  const { status } = await send(service.url, '/api/v1/aggregator/servers', {
    method: 'POST',
    token: service.token,
    body: JSON.stringify({
      name: 'book',
      transport_type: 'STDIO',
      connection_config: {
        command: process.execPath,
        args: [fixture('many-tools.mjs'), String(TOOLS)],
      },
    }),
  });
  expect(status).toBe(201);
}
