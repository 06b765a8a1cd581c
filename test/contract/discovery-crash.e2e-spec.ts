import { type FailPoint, failPoints } from '@app/platform';
import { cp } from 'node:fs/promises';
import pg from 'pg';
import { startFakeEndpoint } from '../fixtures/fake-endpoint.js';
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
const wholeWith = (use: Model): object => ({
  tools: TOOLS,
  vectors: use === 'remote' ? TOOLS : 0,
});
const rounds = Array.from({ length: ROUNDS }, (_, i) => i + 1);
/** Those of others are in policy-kills. */
const ofDiscovery = failPoints.filter((point) => !/^(?:approvals|policy|tokens)\./.test(point));
const crashes = ofDiscovery.flatMap((point) =>
  (ROUNDS > 1 ? engines : (['PostgreSQL'] as const)).flatMap((engine) =>
    rounds.map((round) => ({ engine, point, round })),
  ),
);

type Engine = (typeof crashes)[number]['engine'];

/** Vectors of the model in the process are not stored; these are. They say nothing of a text. */
const model = startFakeEndpoint(({ body }) => ({
  data: (body as { input: string[] }).input.map((text, index) => ({
    index,
    embedding: [text.length, 1],
  })),
}));

type Model = 'in the process' | 'remote';

const settingsFor = async (
  use: Model,
  database: string | undefined,
): Promise<Record<string, string>> => ({
  ...(use === 'remote' && {
    EMBEDDINGS_URL: `${(await model).url}/v1`,
    EMBEDDINGS_MODEL: 'stand-in',
  }),
  DATABASE_URL: database ?? '',
  MCP_CREDENTIAL_KEY: 'a-key-for-this-test-only',
  MCP_AGGREGATOR_LOG_LEVEL: 'fatal',
});

interface Started {
  readonly folder: string;
  readonly database: string | undefined;
}

/** By engine and model, after a first start: it makes what every start needs, such as the vectors of the service's own tool. */
const started = new Map<string, Promise<Started>>();
const removals: (() => Promise<void>)[] = [];
afterAll(async () => {
  for (const remove of removals) await remove();
  await (await model).close();
});

async function newFolder(): Promise<string> {
  const { path, remove } = await temporaryFolder();
  removals.push(remove);
  return path;
}

async function startOnce(engine: Engine, use: Model): Promise<Started> {
  const folder = await newFolder();
  const database = engine === 'PostgreSQL' ? await createDatabase() : undefined;
  const { child, exited } = await startProcess(folder, await settingsFor(use, database));
  child.kill('SIGTERM');
  await exited;
  return { folder, database };
}

/** A data folder and a database of its own, as a first start leaves them. */
async function copyOfFirst(engine: Engine, use: Model): Promise<[string, Record<string, string>]> {
  const key = `${engine} ${use}`;
  let first = started.get(key);
  if (!first) started.set(key, (first = startOnce(engine, use)));
  const { folder, database } = await first;
  const copy = await newFolder();
  await cp(folder, copy, { recursive: true });
  return [copy, await settingsFor(use, database && (await createDatabase({ copyOf: database })))];
}

describe('a service that is killed while it discovers', () => {
  // Concurrently: most of the time passes until the lease of the killed leader has run out.
  it.concurrent.each(crashes)(
    'leaves rows, catalogue and vectors equal after the next start: on $engine, at $point (round $round)',
    async ({ engine, point }) => {
      const use = point.startsWith('vectors.') ? 'remote' : 'in the process';
      const whole = wholeWith(use);
      const [folder, settings] = await copyOfFirst(engine, use);
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
            metadata: { external_tools_count: TOOLS, degraded: false },
          });
          if (use === 'in the process') {
            expect(found.body).toMatchObject({
              tools: expect.arrayContaining([
                expect.objectContaining({ name: `book.read_page_${TOOLS - 1}` }),
              ]),
            });
          }
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
