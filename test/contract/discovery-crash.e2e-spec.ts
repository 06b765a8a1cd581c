import { type FailPoint, failPoints } from '@app/platform';
import pg from 'pg';
import { temporaryFolder } from '../support/env.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import { fixture } from '../support/peers.js';
import { EmbeddedDatabase } from '../../libs/platform/src/database/embedded-database.js';
import { engines } from '../support/database.js';
import { createDatabase } from '../support/postgres.js';
import { launch, type ServiceProcess, startProcess } from '../support/service-process.js';

/** CRASH_ROUNDS sets a larger number, and then both databases are used. */
const ROUNDS = Number(process.env['CRASH_ROUNDS'] ?? 1);
const TOOLS = 700;
const whole = { tools: TOOLS, vectors: TOOLS };
const crashes = failPoints.flatMap((point) =>
  (ROUNDS > 1 ? engines : (['PostgreSQL'] as const)).map((engine) => ({ engine, point })),
);

describe.each(crashes)('on $engine, kill -9 at $point', ({ engine, point }) => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let settings: Record<string, string>;

  beforeEach(async () => {
    folder = await temporaryFolder();
    settings = {
      DATABASE_URL: engine === 'PostgreSQL' ? await createDatabase() : '',
      MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
      MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
    };
  });
  afterEach(() => folder.remove());

  it.each(Array.from({ length: ROUNDS }, (_, i) => i + 1))(
    'leaves rows, catalogue and vectors equal within 10 s of the next start (round %i)',
    async () => {
      await crashAt(point, folder.path, settings);
      const service = await startProcess(folder.path, settings);
      try {
        const { token } = service;
        const servers = await send(service.url, '/api/v1/aggregator/servers', { token });
        if (servers.text.includes('"total":0')) await register(service);
        await eventually(async () => {
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
          if (engine === 'PostgreSQL') expect(await rowsOf(folder.path, settings)).toEqual(whole);
        }, 10_000);
      } finally {
        service.child.kill('SIGTERM');
        await service.exited;
      }
      expect(await rowsOf(folder.path, settings)).toEqual(whole);
    },
    90_000,
  );
});

/** The embedded database admits only the service process, so it is read after that has ended. */
async function rowsOf(folder: string, settings: Record<string, string>): Promise<unknown> {
  const embedded = new EmbeddedDatabase();
  const options = settings['DATABASE_URL']
    ? { connectionString: settings['DATABASE_URL'] }
    : embedded.open(folder);
  const pool = new pg.Pool(options);
  const { rows } = await pool.query<object>(`
    SELECT (SELECT count(*)::int FROM mcp.tools WHERE is_external) AS tools,
           (SELECT count(*)::int FROM mcp.tool_vectors v JOIN mcp.tools t ON t.id = v.tool_id
            WHERE t.is_external) AS vectors`);
  await pool.end();
  await embedded.close();
  return rows[0];
}

/** Discovers until the fail point kills the process. */
async function crashAt(
  point: FailPoint,
  folder: string,
  settings: Record<string, string>,
): Promise<void> {
  // A first start makes what every start needs, such as the vectors of the aggregator's own tool.
  const first = await startProcess(folder, settings);
  first.child.kill('SIGTERM');
  await first.exited;
  const armed = { ...settings, MCP_AGGREGATOR_FAIL_POINT: point };
  if (point === 'catalogue.read') {
    expect(await launch(folder, armed).exited).toBe('SIGKILL'); // the fail point is read at start
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
