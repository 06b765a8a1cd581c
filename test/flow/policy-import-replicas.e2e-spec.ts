import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { createDatabase } from '../support/postgres.js';

const TOKEN = 'a-token-of-both-replicas';
const ROUNDS = 5;

interface Outcome {
  readonly changed: string[];
  readonly removed: string[];
  readonly unchanged: number;
  readonly refused: object[];
}

/** Views that name the document, with a grant and an override each. */
function documentNamed(title: string, views: readonly string[]): object {
  const entries = views.map((slug) => [
    slug,
    {
      title,
      rules: [{ effect: 'include', server: 'tools', name: `${title}_*` }],
      grants: [{ subject: `group:${title}`, level: 'call' }],
      overrides: { [`tools.${slug}`]: { title } },
    },
  ]);
  const rules = [{ effect: 'include' }];
  const grants = [{ subject: 'anyone', level: 'call' }];
  return { views: { ...Object.fromEntries(entries), default: { rules, grants } }, overrides: {} };
}

describe('a policy document that two replicas import at once', () => {
  let one: Api;
  let other: Api;
  const started: TestApp[] = [];

  beforeAll(async () => {
    const settings = {
      DATABASE_URL: await createDatabase(),
      MCP_AGGREGATOR_TOKENS: `admin:admin:${TOKEN}`,
    };
    const apis: Api[] = [];
    for (let i = 0; i < 2; i++) {
      const service = await startApp(settings);
      started.push(service);
      apis.push(new Api({ url: service.url, token: TOKEN }));
    }
    [one, other] = apis as [Api, Api];
    await one.register({
      name: 'tools',
      transport_type: 'STDIO',
      connection_config: { command: process.execPath },
      auto_connect: false,
    });
    await eventually(async () =>
      expect((await other.call('GET', '/servers')).body).toMatchObject({ total: 1 }),
    );
  });
  afterAll(async () => {
    for (const service of started.toReversed()) await service.close();
  });

  const bring = async (api: Api, document: object, query = ''): Promise<Outcome> => {
    const { status, body } = await api.call('POST', `/policy/import${query}`, document);
    expect(status).toBe(200);
    return body as unknown as Outcome;
  };
  const exported = async (api: Api): Promise<object> =>
    (await api.call('GET', '/policy/export')).body;
  const historyOf = async (api: Api): Promise<object[]> =>
    (await api.call('GET', '/policy/history?limit=200')).body['entries'] as object[];

  it('is applied by one of them, and is what the other finds', async () => {
    const before = (await historyOf(one)).length;
    const document = documentNamed('same', ['a', 'b', 'c', 'd']);
    const outcomes = await Promise.all([bring(one, document), bring(other, document)]);
    const [idle, busy] = outcomes.toSorted((a, b) => a.changed.length - b.changed.length);
    const changed = busy?.changed.length ?? 0;
    expect(busy).toMatchObject({ removed: [], refused: [] });
    expect(idle).toMatchObject({ changed: [], removed: [], refused: [] });
    expect(idle?.unchanged).toBe(changed + (busy?.unchanged ?? 0));
    // Each has answered when its own memory shows the document.
    for (const api of [one, other]) expect(await exported(api)).toEqual(document);
    expect(changed).toBeGreaterThanOrEqual(12);
    expect(await historyOf(other)).toHaveLength(before + changed);
  });

  it('is the policy as a whole, or the document of the other is', async () => {
    const documents = [
      documentNamed('first', ['a', 'b', 'x']),
      documentNamed('second', ['b', 'y']),
    ];
    const [first = {}, second = {}] = documents;
    for (let round = 0; round < ROUNDS; round++) {
      await Promise.all([bring(one, first, '?prune=true'), bring(other, second, '?prune=true')]);
      const result = await exported(one);
      expect(documents).toContainEqual(result);
      await eventually(async () => expect(await exported(other)).toEqual(await exported(one)));
    }
  });
});
