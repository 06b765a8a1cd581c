import { allEngines, openDatabase } from '../../../test/support/database.js';
import { ServerEntity } from './server.entity.js';

describe.each(allEngines)('rows of servers on %s', (engine) => {
  let opened: Awaited<ReturnType<typeof openDatabase>>;
  beforeAll(async () => {
    opened = await openDatabase(engine, [ServerEntity]);
  });
  afterAll(() => opened.close());

  it('have an id without being given one', async () => {
    const rows = await opened.database.direct.query<{ id: string }[]>(
      `INSERT INTO mcp.external_servers (name, transport_type, connection_config)
       VALUES ('one', 'HTTP', '{}'), ('two', 'HTTP', '{}') RETURNING id`,
    );
    expect(new Set(rows.map(({ id }) => id)).size).toBe(2);
    for (const { id } of rows) expect(id).toMatch(/^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/);
  });
});
