import { Database } from '@app/platform';
import { CommandBus } from '@nestjs/cqrs';
import { DataSource } from 'typeorm';
import { Api } from '../../../../test/support/api.js';
import { startApp, stopIntervals, type TestApp } from '../../../../test/support/app.js';
import { eventually } from '../../../../test/support/eventually.js';
import { ListingServer } from '../../../../test/support/listing-server.js';
import { ReconcileSessions } from './reconcile-sessions.command.js';

interface Statement {
  readonly sql: string;
  readonly values: readonly unknown[];
}

/** Collects the statements that the service sends to its database. */
function recordStatements(service: TestApp): Statement[] {
  const statements: Statement[] = [];
  // All kinds of work have the same driver.
  const { driver } = service.app.get(DataSource);
  const createRunner = driver.createQueryRunner.bind(driver);
  driver.createQueryRunner = (mode) => {
    const runner = createRunner(mode);
    const query = runner.query.bind(runner);
    const recorded = (sql: string, values: unknown[] = [], isStructured?: boolean): unknown => {
      statements.push({ sql, values });
      return isStructured ? query(sql, values, true) : query(sql, values);
    };
    return Object.assign(runner, { query: recorded });
  };
  return statements;
}

const READS_SERVERS = /\b(from|join)\s+"?mcp"?\."?external_servers/i;
const READS_TOOLS = /\b(from|join)\s+"?mcp"?\."?tools\b/i;
/** Sums over the rows of all other servers. */
const OF_OTHERS = /WHERE id <> \$1/;

describe.each([
  ['PostgreSQL', {}],
  ['PGlite', { DATABASE_URL: '' }],
])('registering a server on %s', (_, settings) => {
  const upstream = new ListingServer();
  let service: TestApp;
  let statements: Statement[];

  beforeAll(async () => {
    await upstream.start();
    upstream.tools.set('files', ['read_file', 'write_file']);
    service = await startApp({ MCP_AGGREGATOR_ALLOW_INSECURE_HTTP: 'true', ...settings });
    stopIntervals(service);
    statements = recordStatements(service);
  });
  afterAll(async () => {
    await service.close();
    await upstream.stop();
  });

  it('reads its row and those of its tools at most twice until they are classified', async () => {
    const id = await new Api(service).register({
      name: 'files',
      transport_type: 'HTTP',
      connection_config: { base_url: upstream.url('files') },
    });
    const { direct } = service.app.get(Database, { strict: false });
    const tools = await eventually(async () => {
      const rows = await direct.query<{ id: number; state: string }[]>(
        `SELECT t.id, state FROM mcp.tool_classifications
         JOIN mcp.tools t ON t.id = tool_id WHERE t.is_external`,
      );
      expect(rows.filter(({ state }) => state.endsWith('CLASSIFIED'))).toHaveLength(2);
      return rows;
    });
    // Runs in the background too; a server whose row and session agree costs it no read.
    await service.app.get(CommandBus).execute(new ReconcileSessions());
    const ofServer = statements.filter(({ values }) => values.flat().includes(id));
    const reads = ofServer.filter(({ sql }) => READS_SERVERS.test(sql) && !OF_OTHERS.test(sql));
    expect(ofServer.some(({ sql }) => /INSERT INTO "mcp"."external_servers"/.test(sql))).toBe(true);
    // Beside them the screening of instructions locks the row, and reads only who is locked.
    const locks = reads.filter(({ sql }) => sql.startsWith('SELECT id, name, trust '));
    expect(locks.length).toBeLessThanOrEqual(1);
    expect(reads.filter((read) => !locks.includes(read)).map(({ sql }) => sql)).toHaveLength(2);

    for (const tool of tools) {
      const ofTool = (): string[] =>
        statements
          .filter(({ sql, values }) => READS_TOOLS.test(sql) && values.flat().includes(tool.id))
          .map(({ sql }) => sql);
      // By the catalogue, after the discovery and after the classification.
      await eventually(() =>
        expect(ofTool()).toEqual([
          expect.stringContaining('discovered_at, definition FROM mcp.tools'),
          expect.stringContaining('discovered_at FROM mcp.tools'),
        ]),
      );
    }
  });
});
