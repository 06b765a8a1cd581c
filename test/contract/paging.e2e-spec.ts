import { Database } from '@app/platform';
import { startApp, type TestApp } from '../support/app.js';
import { Api } from '../support/api.js';
import { type Answer, send } from '../support/http.js';

const ROWS = 25;
const MANY = 10_500;

interface Page {
  readonly next_cursor: string | null;
  readonly total: number;
  readonly total_is_exact: boolean;
}

describe.each(['PostgreSQL', 'PGlite'])('lists without an end, on %s', (engine) => {
  let service: TestApp;
  let paths: Readonly<Record<'audit' | 'history' | 'suggestions', string>>;
  beforeAll(async () => {
    service = await startApp({
      MCP_AGGREGATOR_ENABLED: 'false',
      ...(engine === 'PGlite' && { DATABASE_URL: '' }),
    });
    const id = await new Api(service).register({
      name: 'a-server',
      transport_type: 'HTTP',
      connection_config: { base_url: 'https://a.example/mcp' },
      auto_connect: false,
    });
    const { direct } = service.app.get(Database, { strict: false });
    await direct.query(
      `INSERT INTO mcp.audit_log (event, outcome, actor, details)
       SELECT 'paging.test', 'success', 'someone', jsonb_build_object('n', n)
       FROM generate_series(1, $1::int) n`,
      [ROWS],
    );
    await direct.query(
      `INSERT INTO mcp.server_connection_history (server_id, event_type, details)
       SELECT $1, 'CONNECTED', jsonb_build_object('n', n) FROM generate_series(1, $2::int) n`,
      [id, MANY],
    );
    await direct.query(
      `INSERT INTO mcp.skill_suggestions (name, description, suggested_by)
       SELECT 'Skill ' || n, '', 'test' FROM generate_series(1, $1::int) n`,
      [ROWS],
    );
    const base = '/api/v1/aggregator';
    paths = {
      audit: `${base}/audit?event=paging.test`,
      history: `${base}/servers/${id}/history?`,
      suggestions: `${base}/skill-suggestions?`,
    };
  });
  afterAll(() => service.close());

  const get = (path: string): Promise<Answer> => send(service.url, path, { token: service.token });
  const walk = async <T>(path: string, list: string): Promise<T[]> => {
    const all: T[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const answer = await get(`${path}${cursor && `&cursor=${cursor}`}`);
      expect(answer.status).toBe(200);
      const page = answer.body as Page & Record<string, T[]>;
      all.push(...(page[list] ?? []));
      cursor = page.next_cursor;
    }
    return all;
  };

  it('are read whole and in order by their cursors', async () => {
    const entries = await walk<{ details: { n: number } }>(`${paths.audit}&limit=7`, 'entries');
    expect(entries.map(({ details }) => details.n)).toEqual(
      Array.from({ length: ROWS }, (_, i) => ROWS - i),
    );
    const suggestions = await walk<{ name: string }>(`${paths.suggestions}&limit=7`, 'suggestions');
    expect(new Set(suggestions.map(({ name }) => name)).size).toBe(ROWS);
    const events = await walk<unknown>(`${paths.history}&limit=500`, 'events');
    expect(events).toHaveLength(MANY + 1);
  });

  it('miss and repeat nothing when rows are added between two pages', async () => {
    const first = (await get(`${paths.audit}&limit=10`)).body as Page;
    const { direct } = service.app.get(Database, { strict: false });
    await direct.query(
      `INSERT INTO mcp.audit_log (event, outcome, actor, details)
       VALUES ('paging.test', 'success', 'someone', '{"n": 0}')`,
    );
    const second = (await get(`${paths.audit}&limit=1&cursor=${first.next_cursor ?? ''}`)).body;
    expect(second).toMatchObject({ entries: [{ details: { n: ROWS - 10 } }] });
    await direct.query(`DELETE FROM mcp.audit_log WHERE details = '{"n": 0}'`);
  });

  it('have an exact total while they are short, and say so', async () => {
    expect((await get(paths.audit)).body).toMatchObject({ total: ROWS, total_is_exact: true });
    expect((await get(paths.history)).body).toMatchObject({ total: 10_000, total_is_exact: false });
  });

  it('take an offset up to 10,000, and say what to do beyond', async () => {
    expect((await get(`${paths.history}&limit=1&offset=10000`)).body).toMatchObject({
      events: [{ details: { n: MANY - 10_000 } }],
      offset: 10_000,
    });
    for (const path of Object.values(paths)) {
      const { status, body } = await get(`${path}&offset=10001`);
      expect(status).toBe(422);
      expect(body).toMatchObject({
        detail: [{ loc: ['query', 'offset'], msg: expect.stringMatching(/next_cursor/) }],
      });
    }
  });

  it('refuse a cursor of another list', async () => {
    const { next_cursor: foreign } = (await get(`${paths.history}&limit=1`)).body as Page;
    const hostile = [
      'x',
      '\u0000',
      '\u00ff',
      'a b',
      "a' OR 1=1",
      'A'.repeat(2_049),
      foreign ?? '',
      Buffer.from('audit 0').toString('base64url'),
      Buffer.from('audit 1e3').toString('base64url'),
      Buffer.from('audit 99999999999999999999').toString('base64url'),
      Buffer.from("audit 1' OR 1=1").toString('base64url'),
      Buffer.from('suggestions a\u0000b').toString('base64url'),
      Buffer.from('suggestions ').toString('base64url'),
    ];
    for (const cursor of hostile) {
      for (const path of [paths.audit, paths.suggestions]) {
        const { status, body } = await get(`${path}&cursor=${encodeURIComponent(cursor)}`);
        expect({ cursor, status }).toEqual({ cursor, status: 422 });
        expect(body).toMatchObject({ detail: [{ loc: ['query', 'cursor'] }] });
      }
    }
    expect((await get(`${paths.history}&offset=1&cursor=${foreign ?? ''}`)).status).toBe(422);
    expect((await get(`${paths.history}&cursor=${foreign ?? ''}&cursor=x`)).status).toBe(422);
  });
});
