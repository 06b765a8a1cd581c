import { type FailPoint, failPoints } from '@app/platform';
import { cp } from 'node:fs/promises';
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
const whole = { tools: TOOLS };
const rounds = Array.from({ length: ROUNDS }, (_, i) => i + 1);
/** Those of others are in policy-kills. */
const ofDiscovery = failPoints.filter((point) => !/^(?:approvals|policy|tokens)\./.test(point));
const crashes = ofDiscovery.flatMap((point) =>
  (ROUNDS > 1 ? engines : (['PostgreSQL'] as const)).flatMap((engine) =>
    rounds.map((round) => ({ engine, point, round })),
  ),
);

type Engine = (typeof crashes)[number]['engine'];

const settingsFor = (database: string | undefined): Record<string, string> => ({
  DATABASE_URL: database ?? '',
  MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
  MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
});

interface Started {
  readonly folder: string;
  readonly database: string | undefined;
}

/** By engine, after a first start: it makes what every start needs, such as the vectors of the service's own tool. */
const started = new Map<Engine, Promise<Started>>();
const removals: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const remove of removals) await remove();
});

async function newFolder(): Promise<string> {
  const { path, remove } = await temporaryFolder();
  removals.push(remove);
  return path;
}

async function startOnce(engine: Engine): Promise<Started> {
  const folder = await newFolder();
  const database = engine === 'PostgreSQL' ? await createDatabase() : undefined;
  const { child, exited } = await startProcess(folder, settingsFor(database));
  child.kill('SIGTERM');
  await exited;
  return { folder, database };
}

/** A data folder and a database of its own, as a first start leaves them. */
async function copyOfFirst(engine: Engine): Promise<[string, Record<string, string>]> {
  let first = started.get(engine);
  if (!first) started.set(engine, (first = startOnce(engine)));
  const { folder, database } = await first;
  const copy = await newFolder();
  await cp(folder, copy, { recursive: true });
  return [copy, settingsFor(database && (await createDatabase({ copyOf: database })))];
}

describe('a service that is killed while it discovers', () => {
  // Concurrently: most of the time passes until the lease of the killed leader has run out.
  it.concurrent.each(crashes)(
    'leaves rows, catalogue and vectors equal after the next start: on $engine, at $point (round $round)',
    async ({ engine, point }) => {
      const [folder, settings] = await copyOfFirst(engine);
      await crashAt(point, folder, settings);
      const service = await startProcess(folder, settings);
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
          if (engine === 'PostgreSQL') expect(await rowsOf(folder, settings)).toEqual(whole);
        });
      } finally {
        service.child.kill('SIGTERM');
        await service.exited;
      }
      expect(await rowsOf(folder, settings)).toEqual(whole);
    },
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
    SELECT count(*)::int AS tools FROM mcp.tools WHERE is_external`);
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
