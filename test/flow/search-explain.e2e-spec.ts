import { Catalogue } from '@app/catalogue';
import { Database } from '@app/platform';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { insertTools, ROWS_ONLY } from '../support/rows.js';

interface Hit {
  readonly name: string;
  readonly score: number;
  readonly explanation?: {
    readonly shares: Readonly<Record<'lexical' | 'dense' | 'learnt' | 'name', number>>;
    readonly matched_words: readonly object[];
    readonly clause: number | null;
    readonly bm25: number | null;
  };
}
interface Found {
  readonly tools: readonly Hit[];
  readonly explanation?: {
    readonly embedding_model: string | null;
    readonly clauses: readonly string[];
    readonly left_out?: readonly { readonly name: string; readonly kind: string }[];
    readonly left_out_total?: number;
  };
}

const github = [
  { name: 'create_issue', description: 'Create a new GitHub issue' },
  { name: 'list_commits', description: 'List commits of a branch of a repository' },
];
const slack = [
  { name: 'post_message', description: 'Post a message to a channel' },
  { name: 'delete_message', description: 'Delete a message of a channel' },
];

describe('explaining a search', () => {
  let service: TestApp;

  async function post(path: string, body: object, token = service.token): Promise<Response> {
    return fetch(`${service.url}/api/v1/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }
  async function search(body: object, token = service.token): Promise<Found> {
    const response = await post('search', { explain: true, ...body }, token);
    expect(response.status).toBe(200);
    return (await response.json()) as Found;
  }
  async function change(sql: string, values: unknown[]): Promise<void> {
    await service.app.get(Database, { strict: false }).direct.query(sql, values);
    await service.app.get(Catalogue, { strict: false }).reload();
  }
  const leftOut = ({ explanation }: Found) =>
    Object.fromEntries(explanation?.left_out?.map(({ name, kind }) => [name, kind]) ?? []);

  beforeAll(async () => {
    service = await startApp(ROWS_ONLY);
    await insertTools(service.app, 'github', github);
    await insertTools(service.app, 'slack', slack);
    // Classification changes which tools come first.
    await eventually(async () => {
      const response = await fetch(`${service.url}/api/v1/aggregator/tools`, {
        headers: { authorization: `Bearer ${service.token}` },
      });
      expect(await response.json()).toMatchObject({ unclassified: 0 });
    });
  });
  afterAll(() => service.close());

  it('says nothing unless it is asked', async () => {
    const found = await search({ query: 'create an issue', explain: false });
    expect(found).not.toHaveProperty('explanation');
    expect(found.tools[0]).not.toHaveProperty('explanation');
  });

  it('gives shares that add up to the score, and the words that matched', async () => {
    const { tools, explanation } = await search({ query: 'create an issue', tool_threshold: 0 });
    for (const { score, explanation: hit } of tools) {
      const { lexical = 0, dense = 0, learnt = 0, name = 0 } = hit?.shares ?? {};
      expect(lexical + dense + learnt + name).toBeCloseTo(score, 3);
    }
    expect(tools[0]).toMatchObject({
      name: 'github.create_issue',
      explanation: {
        matched_words: [
          { word: 'create', fields: ['name', 'description'] },
          { word: 'issue', fields: ['name', 'description'] },
        ],
        lexical_rank: 1,
      },
    });
    expect(explanation).toMatchObject({ clauses: [], tool_threshold: 0 });
    expect(explanation?.embedding_model).toEqual(expect.any(String));
  });

  it('names the clauses of a query, and which of them a tool fits', async () => {
    const query = 'list the commits of a branch and post a message to a channel';
    const { tools, explanation } = await search({ query });
    expect(explanation?.clauses).toEqual([
      'list the commits of a branch',
      'post a message to a channel',
    ]);
    const clauseOf = (name: string) =>
      tools.find((tool) => tool.name === name)?.explanation?.clause;
    expect(clauseOf('github.list_commits')).toBe(0);
    expect(clauseOf('slack.post_message')).toBe(1);
  });

  it('names to operators what was left out because its server is not connected', async () => {
    const status = 'UPDATE mcp.external_servers SET status = $1 WHERE name = $2';
    await change(status, ['ERROR', 'slack']);
    const query = 'post a message to a channel';
    const found = await search({ query }, service.tokens.operate);
    expect(found.explanation?.left_out?.[0]).toMatchObject({
      name: 'slack.post_message',
      kind: 'server',
      would_rank: 1,
      reason: 'Its server slack is ERROR',
    });
    const reader = await search({ query }, service.tokens.read);
    expect(reader.explanation).not.toHaveProperty('left_out');
    expect(reader.explanation).not.toHaveProperty('left_out_total');
    expect(JSON.stringify(reader.tools)).not.toContain('slack.post_message');
    await change(status, ['CONNECTED', 'slack']);
  });

  it('gives the score by words, which depends on all tools, to operators alone', async () => {
    const scoreFor = async (token: string) =>
      (await search({ query: 'create an issue' }, token)).tools[0]?.explanation?.bm25;
    expect(await scoreFor(service.tokens.operate)).toEqual(expect.any(Number));
    expect(await scoreFor(service.tokens.read)).toBeNull();
  });

  it('names what waits for approval', async () => {
    const sql = 'UPDATE mcp.tools SET withheld = $1::jsonb WHERE name = $2';
    const waiting = JSON.stringify({ hash: 'h', isNew: true, fields: [], findings: [] });
    await change(sql, [waiting, 'slack.post_message']);
    expect(leftOut(await search({ query: 'post a message' }))).toMatchObject({
      'slack.post_message': 'withheld',
    });
    await change(sql, [null, 'slack.post_message']);
  });

  it('searches what a view offers, and names what its rules leave out', async () => {
    const rules = [
      { effect: 'include', server: 'slack' },
      { effect: 'exclude', name: 'delete_*' },
    ];
    expect((await post('aggregator/views', { slug: 'support', rules })).status).toBe(201);
    const found = await search({ query: 'message in a channel', view: 'support' });
    expect(found.tools.map(({ name }) => name)).toEqual(['slack.post_message']);
    expect(found.explanation?.left_out).toContainEqual(
      expect.objectContaining({
        name: 'slack.delete_message',
        kind: 'view',
        rule: { effect: 'exclude', name: 'delete_*' },
      }),
    );
    const issue = await search({ query: 'create an issue', view: 'support' });
    expect(leftOut(issue)).toMatchObject({ 'github.create_issue': 'view' });
  });

  it('does not tell a caller of views that it may not use', async () => {
    const answer = (view: string) =>
      post('search', { query: 'a', view }, service.tokens.read).then((response) => response.status);
    expect([await answer('support'), await answer('missing')]).toEqual([404, 404]);
  });
});
