import { Database } from '@app/platform';
import { startApp, type TestApp } from '../support/app.js';
import { send } from '../support/http.js';
import { ROWS_ONLY } from '../support/rows.js';

interface Entry {
  readonly id: string;
  readonly event: string;
  readonly actor: string;
  readonly outcome: string;
  readonly timestamp: string;
  readonly details: { readonly n?: number; readonly tool?: string };
}
interface Page {
  readonly entries: readonly Entry[];
  readonly next_cursor: string | null;
  readonly total: number;
  readonly total_is_exact: boolean;
}

const AUDIT = '/api/v1/aggregator/audit';
const SERVER = '550e8400-e29b-41d4-a716-446655440000';
const CALLS = 30_000;
/** One entry a second. */
const START = Date.parse('2026-01-01T00:00:00Z');
const at = (n: number): string => new Date(START + n * 1_000).toISOString();

describe.each(['PostgreSQL', 'PGlite'])('filters of the audit log, on %s', (engine) => {
  let service: TestApp;

  const get = async (query: string): Promise<Page> => {
    const { status, body } = await send(service.url, `${AUDIT}?${query}`, { token: service.token });
    expect(status).toBe(200);
    return body as unknown as Page;
  };
  const all = async (query: string): Promise<Entry[]> => {
    const entries: Entry[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page = await get(`${query}${cursor && `&cursor=${cursor}`}`);
      entries.push(...page.entries);
      cursor = page.next_cursor;
    }
    return entries;
  };
  const numbers = (entries: readonly Entry[]) => entries.map(({ details }) => details.n);
  const insert = (sql: string, values: unknown[]) =>
    service.app.get(Database, { strict: false }).bulk.direct.query(sql, values);

  beforeAll(async () => {
    service = await startApp({ ...ROWS_ONLY, ...(engine === 'PGlite' && { DATABASE_URL: '' }) });
    // Calls by two actors, every 1,000th of which failed; and a change before each 5,000th.
    await insert(
      `INSERT INTO mcp.audit_log (event, outcome, actor, server_id, server_name, details, timestamp)
       SELECT CASE WHEN n % 5000 = 0 THEN 'server.updated' ELSE 'tool.called' END,
              CASE WHEN n % 1000 = 1 THEN 'failure' ELSE 'success' END,
              CASE WHEN n % 2 = 0 THEN 'anna' ELSE 'ben' END, $1, 'docs',
              CASE WHEN n % 5000 = 0 THEN jsonb_build_object('n', n)
                   WHEN n = 77 THEN jsonb_build_object('n', n, 'tool', 'docs.rare')
                   ELSE jsonb_build_object('n', n, 'tool', 'docs.search') END,
              $2::timestamptz + make_interval(secs => n)
       FROM generate_series(1, $3::int) n`,
      [SERVER, at(0), CALLS],
    );
  });
  afterAll(() => service.close());

  it('find by actor, outcome, event, kind and tool', async () => {
    const failures = await all('outcome=failure&limit=500');
    expect(numbers(failures)).toEqual(
      Array.from({ length: CALLS / 1_000 }, (_, i) => CALLS - 999 - i * 1_000),
    );
    expect(numbers(await all(`kind=changes&event=server.updated`))).toEqual([
      30_000, 25_000, 20_000, 15_000, 10_000, 5_000,
    ]);
    expect(numbers(await all('tool=docs.rare'))).toEqual([77]);
    expect((await get('actor=ben&limit=1')).entries).toMatchObject([
      { actor: 'ben', details: { n: CALLS - 1 } },
    ]);
    expect(numbers(await all('actor=anna&kind=changes&server_id=' + SERVER))).toHaveLength(6);
    expect(await all('actor=carl')).toEqual([]);
  });

  it('find a text anywhere, however many entries are in between', async () => {
    expect(numbers(await all('text=DOCS.rare'))).toEqual([77]);
    expect(await all('text=docs_rare')).toEqual([]);
    const first = await get('text=docs.rare&limit=10');
    expect(first).toMatchObject({ entries: [], total_is_exact: false });
    expect(first.next_cursor).not.toBeNull();
  });

  it('find by time', async () => {
    const within = `from=${at(1_000)}&to=${at(1_003)}`;
    expect(numbers(await all(within))).toEqual([1_002, 1_001, 1_000]);
    expect(numbers(await all(`${within}&outcome=failure`))).toEqual([1_001]);
    expect(numbers(await all(`from=${at(CALLS)}&actor=anna`))).toEqual([CALLS]);
    expect(await all(`from=2027-01-01&actor=anna`)).toEqual([]);
    expect(await all(`to=${at(1)}&server_id=${SERVER}`)).toEqual([]);
  });

  it('keep their pages while entries are added', async () => {
    const query = 'text=docs.search&actor=anna&limit=3';
    const first = await get(query);
    await insert(
      `INSERT INTO mcp.audit_log (event, outcome, actor, details, timestamp)
       SELECT 'tool.called', 'success', 'anna', '{"tool": "docs.search", "n": 0}', $1
       FROM generate_series(1, 50)`,
      [at(CALLS + 1)],
    );
    const second = await get(`${query}&cursor=${first.next_cursor ?? ''}`);
    expect(numbers([...first.entries, ...second.entries])).toEqual(
      [2, 4, 6, 8, 10, 12].map((n) => CALLS - n),
    );
    await insert(`DELETE FROM mcp.audit_log WHERE details ->> 'n' = '0'`, []);
  });

  it('count what they looked through, and say whether that was all', async () => {
    expect(await get('outcome=failure')).toMatchObject({ total: 30, total_is_exact: true });
    expect(await get('tool=docs.rare&actor=ben')).toMatchObject({ total: 1, total_is_exact: true });
    expect(await get('actor=anna')).toMatchObject({ total: 10_000, total_is_exact: false });
  });

  it.each(['kind=x', 'outcome=x', 'from=yesterday', 'to=2026-01-01T00:00', 'actor=', 'text=%00'])(
    'refuse %s',
    async (query) => {
      const { status } = await send(service.url, `${AUDIT}?${query}`, { token: service.token });
      expect(status).toBe(422);
    },
  );

  describe('exports', () => {
    const download = (query: string, accept = '*/*'): Promise<Response> =>
      fetch(`${service.url}${AUDIT}/export?${query}`, {
        headers: { authorization: `Bearer ${service.token}`, accept },
      });

    it('are NDJSON with every entry of the filter', async () => {
      const response = await download(`actor=anna&to=${at(5_001)}`);
      expect(response.headers.get('content-type')).toBe('application/x-ndjson');
      const lines = (await response.text()).trimEnd().split('\n');
      const entries = lines.map((line) => JSON.parse(line) as Entry);
      expect(numbers(entries)).toEqual(Array.from({ length: 2_500 }, (_, i) => 5_000 - 2 * i));
    });

    it('are CSV when asked, whose cells are no formulas', async () => {
      await insert(
        `INSERT INTO mcp.audit_log (event, outcome, actor, details, timestamp)
         VALUES ('test.csv', 'success', '=HYPERLINK("https://evil.example")', '{"n": 1}', $1)`,
        [at(-10)],
      );
      const byFormat = await (await download('event=test.csv&format=csv')).text();
      const byHeader = await download('event=test.csv', 'text/csv');
      expect(byHeader.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      expect(await byHeader.text()).toBe(byFormat);
      const [head, row, end] = byFormat.split('\r\n');
      expect(head).toBe(
        'id,timestamp,event,outcome,actor,actor_subject,ip_address,server_id,server_name,details',
      );
      expect(row).toContain(`,"'=HYPERLINK(""https://evil.example"")",`);
      expect(end).toBe('');
    });

    it('are bounded', async () => {
      const lines = (await (await download('limit=7')).text()).trimEnd().split('\n');
      expect(lines).toHaveLength(7);
      expect((await download('limit=100001')).status).toBe(422);
    });

    it('are for admins', async () => {
      const { status } = await send(service.url, `${AUDIT}/export`, { token: service.tokens.call });
      expect(status).toBe(403);
    });
  });
});
