import { Client as ModernSdk, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Client as LegacySdk } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import fc from 'fast-check';
import { fileURLToPath } from 'node:url';
import { Api } from '../support/api.js';
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { send } from '../support/http.js';
import {
  isOffered,
  isPageOffered,
  oracleItems,
  type OracleLevel,
  type OracleRule,
  oracleServers,
} from '../support/policy-oracle.js';

// 22 policies are 10,000 triples of subject, view and item, on each database.
const POLICIES = Number(process.env['POLICY_ORACLE_RUNS'] ?? 4);
const POLICIES_ON_PGLITE = Number(process.env['POLICY_ORACLE_RUNS'] ?? 1);
const fixture = fileURLToPath(new URL('../fixtures/items.mjs', import.meta.url));
const VIEWS = ['default', 'one', 'two'] as const;
const tools = oracleItems.filter(({ kind }) => kind === 'tool');

interface RandomPolicy {
  readonly views: Readonly<Record<(typeof VIEWS)[number], readonly OracleRule[]>>;
  /** Of the subjects `token:alice`, `token:bob` and `anyone`, by view. */
  readonly grants: Readonly<Record<(typeof VIEWS)[number], readonly (OracleLevel | null)[]>>;
}

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 2 });
const rule: fc.Arbitrary<OracleRule> = fc
  .record({
    effect: fc.constantFrom('include' as const, 'include' as const, 'exclude' as const),
    kind: maybe(fc.constantFrom('tool' as const, 'prompt' as const, 'resource' as const)),
    server: maybe(fc.constantFrom(...oracleServers)),
    name: maybe(
      fc.constantFrom(
        '*',
        '*item*',
        'get_*',
        'report_*',
        '*_only',
        '*://docs/*',
        '*://p*',
        'purge',
        '*e*a*',
      ),
    ),
    annotation: maybe(
      fc.constantFrom(
        'read_only' as const,
        'destructive' as const,
        'idempotent' as const,
        'open_world' as const,
      ),
    ),
  })
  .map(({ effect, kind, server, name, annotation }) => {
    const isOfTools = kind === undefined || kind === 'tool';
    return {
      effect,
      ...(kind && { kind }),
      ...(server && { server }),
      ...(name && { name }),
      ...(annotation && isOfTools && { annotation }),
    };
  });
const rules = fc.array(rule, { maxLength: 5 });
const level = fc.constantFrom<OracleLevel | null>('read', 'call_read_only', 'call', null);
const perView = <T>(value: fc.Arbitrary<T>) =>
  fc.record({ default: value, one: value, two: value });
const policies: fc.Arbitrary<RandomPolicy> = fc.record({
  views: perView(rules),
  grants: perView(fc.tuple(level, level, level)),
});

interface Subject {
  readonly name: string;
  readonly token: string;
  readonly levelOn: (policy: RandomPolicy, view: (typeof VIEWS)[number]) => OracleLevel | null;
  readonly viewAt: (view: (typeof VIEWS)[number]) => (typeof VIEWS)[number];
}

/** What a client of either era sees and does. */
interface AnyClient {
  lists(): Promise<Record<'tools' | 'prompts' | 'resources' | 'templates', string[]>>;
  call(name: string, args?: Record<string, unknown>): Promise<string>;
  prompt(name: string): Promise<string>;
  read(uri: string): Promise<string>;
  close(): Promise<void>;
}

const textsOf = (result: object): string => JSON.stringify(result);

async function legacyClient(url: URL, token: string): Promise<AnyClient> {
  const client = new LegacySdk({ name: 'old', version: '1' });
  const options = { requestInit: { headers: { authorization: `Bearer ${token}` } } };
  // The SDK's own types conflict with exactOptionalPropertyTypes.
  await client.connect(new LegacyTransport(url, options) as Parameters<LegacySdk['connect']>[0]);
  return {
    lists: async () => ({
      tools: (await client.listTools()).tools.map(({ name }) => name),
      prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
      resources: (await client.listResources()).resources.map(({ uri }) => uri),
      templates: (await client.listResourceTemplates()).resourceTemplates.map(
        ({ uriTemplate }) => uriTemplate,
      ),
    }),
    call: async (name, args = {}) => textsOf(await client.callTool({ name, arguments: args })),
    prompt: async (name) => textsOf(await client.getPrompt({ name })),
    read: async (uri) => textsOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

async function modernClient(url: URL, token: string): Promise<AnyClient> {
  const client = new ModernSdk(
    { name: 'new', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  const options = { requestInit: { headers: { authorization: `Bearer ${token}` } } };
  await client.connect(new StreamableHTTPClientTransport(url, options));
  return {
    lists: async () => ({
      tools: (await client.listTools()).tools.map(({ name }) => name),
      prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
      resources: (await client.listResources()).resources.map(({ uri }) => uri),
      templates: (await client.listResourceTemplates()).resourceTemplates.map(
        ({ uriTemplate }) => uriTemplate,
      ),
    }),
    call: async (name, args = {}) => textsOf(await client.callTool({ name, arguments: args })),
    prompt: async (name) => textsOf(await client.getPrompt({ name })),
    read: async (uri) => textsOf(await client.readResource({ uri })),
    close: () => client.close(),
  };
}

const succeeded = (answer: Promise<string>, expected: string): Promise<boolean> =>
  answer.then(
    (text) => text.includes(expected),
    () => false,
  );

describe.each([
  ['PostgreSQL', undefined, POLICIES],
  ['PGlite', '', POLICIES_ON_PGLITE],
])('random policies on %s', (_, databaseUrl, runs) => {
  let service: TestApp;
  let api: Api;
  let subjects: Subject[];

  beforeAll(async () => {
    service = await startApp(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl });
    api = new Api(service);
    for (const name of oracleServers) {
      await api.register({
        name,
        transport_type: 'STDIO',
        connection_config: { command: process.execPath, args: [fixture, name] },
      });
    }
    for (const slug of ['one', 'two']) await api.call('POST', '/views', { slug, rules: [] });
    const issue = async (body: object): Promise<string> =>
      String((await api.call('POST', '/tokens', { scopes: ['call'], ...body })).body['token']);
    const best = (given: readonly (OracleLevel | null | undefined)[]): OracleLevel | null => {
      if (given.includes('call')) return 'call';
      if (given.includes('call_read_only')) return 'call_read_only';
      return given.includes('read') ? 'read' : null;
    };
    subjects = [
      {
        name: 'alice',
        token: await issue({ name: 'alice' }),
        levelOn: ({ grants }, view) => best([grants[view][0], grants[view][2]]),
        viewAt: (view) => view,
      },
      {
        name: 'bob',
        token: await issue({ name: 'bob' }),
        levelOn: ({ grants }, view) => best([grants[view][1], grants[view][2]]),
        viewAt: (view) => view,
      },
      {
        name: 'a token for the view one',
        token: await issue({ name: 'pinned', view: 'one', level: 'call_read_only' }),
        levelOn: () => 'call_read_only',
        viewAt: () => 'one',
      },
    ];
    await eventually(async () => {
      const listed = await send(service.url, '/api/v1/aggregator/tools?limit=200', {
        token: service.token,
      });
      expect(listed.body).toMatchObject({ total: tools.length });
      const client = await legacyClient(new URL('/mcp', service.url), service.token);
      const { prompts, resources, templates } = await client.lists();
      await client.close();
      expect([prompts.length, resources.length, templates.length]).toEqual([9, 9, 3]);
    });
  });
  afterAll(() => service.close());

  async function apply(policy: RandomPolicy): Promise<void> {
    const { body } = await api.call('GET', '/grants?limit=100');
    for (const { id } of body['grants'] as { id: string }[])
      await api.call('DELETE', `/grants/${id}`);
    for (const view of VIEWS) {
      const saved = await api.call('PUT', `/views/${view}`, { rules: policy.views[view] });
      expect(saved.status).toBe(200);
      const holders = [
        { subject_kind: 'token', subject: 'alice' },
        { subject_kind: 'token', subject: 'bob' },
        { subject_kind: 'anyone' },
      ];
      for (const [i, holder] of holders.entries()) {
        const given = policy.grants[view][i];
        if (given) {
          const answer = await api.call('POST', '/grants', { ...holder, view, level: given });
          expect(answer.status).toBe(201);
        }
      }
    }
  }

  async function checkClient(
    connect: typeof legacyClient,
    path: string,
    subject: Subject,
    rulesThere: readonly OracleRule[],
    reach: OracleLevel,
  ): Promise<void> {
    const client = await connect(new URL(path, service.url), subject.token);
    try {
      const offered = oracleItems.filter((item) => isOffered(rulesThere, item, reach));
      const names = (kind: string): string[] =>
        offered
          .filter((item) => item.kind === kind)
          .map(({ server, name }) => (kind === 'resource' ? name : `${server}__${name}`));
      const { tools: listed, prompts, resources, templates } = await client.lists();
      expect(listed.filter((name) => !name.startsWith('mcp__')).toSorted()).toEqual(
        names('tool').toSorted(),
      );
      expect(prompts.toSorted()).toEqual(names('prompt').toSorted());
      expect([...resources, ...templates].toSorted()).toEqual(names('resource').toSorted());
      const mayCall = reach !== 'read';
      for (const item of oracleItems) {
        const { server, name } = item;
        const is = mayCall && offered.includes(item);
        if (item.kind === 'tool') {
          expect([
            item,
            await succeeded(client.call(`${server}__${name}`), `ran ${server}.${name}`),
          ]).toEqual([item, is]);
        } else if (item.kind === 'prompt') {
          expect([
            item,
            await succeeded(client.prompt(`${server}__${name}`), `${name} of ${server}`),
          ]).toEqual([item, is]);
        } else if (!name.includes('{')) {
          expect([item, await succeeded(client.read(name), `${name} of ${server}`)]).toEqual([
            item,
            is,
          ]);
        }
      }
      for (const server of oracleServers) {
        const page = `${server}://pages/7`;
        const is = mayCall && isPageOffered(rulesThere, server);
        expect([page, await succeeded(client.read(page), `${page} of ${server}`)]).toEqual([
          page,
          is,
        ]);
      }
      const asked = oracleServers.filter(
        (server) =>
          mayCall && offered.some((item) => item.server === server && item.name === 'find_items'),
      );
      const answer = await client
        .call('mcp__proxy__aggregator__query', { query: 'items' })
        .catch(() => '');
      expect(oracleServers.filter((server) => answer.includes(`ran ${server}.find_items`))).toEqual(
        asked,
      );
    } finally {
      await client.close();
    }
  }

  async function checkSearch(
    path: string,
    subject: Subject,
    rulesThere: readonly OracleRule[],
    reach: OracleLevel,
  ): Promise<void> {
    const client = await modernClient(new URL(path, service.url), subject.token);
    try {
      const found = await client.call('search_tools', {
        query: 'sample tool for items of the warehouse',
        limit: 50,
      });
      for (const item of tools) {
        const wire = `${item.server}__${item.name}`;
        const is = isOffered(rulesThere, item, reach);
        expect([
          wire,
          found.includes(`"name":"${wire}"`) || found.includes(`\\"name\\":\\"${wire}\\"`),
        ]).toEqual([wire, is]);
        expect([
          wire,
          await succeeded(client.call('describe_tool', { name: wire }), 'Sample tool'),
        ]).toEqual([wire, is]);
      }
    } finally {
      await client.close();
    }
  }

  async function checkRest(
    subject: Subject,
    rulesThere: readonly OracleRule[],
    reach: OracleLevel | null,
  ): Promise<void> {
    const { token } = subject;
    const listed = await send(service.url, '/api/v1/aggregator/tools?limit=200', { token });
    if (reach === null) return expect(listed.status).toBe(403);
    const names = (listed.body as { tools: { name: string }[] }).tools.map(({ name }) => name);
    const expected = tools.filter((item) => isOffered(rulesThere, item, reach));
    expect(names.toSorted()).toEqual(
      expected.map(({ server, name }) => `${server}.${name}`).toSorted(),
    );
    for (const item of tools) {
      const name = `${item.server}.${item.name}`;
      const body = JSON.stringify({ name, arguments: {} });
      const answer = await send(service.url, '/api/v1/tools/call', { method: 'POST', token, body });
      expect([name, answer.status === 200]).toEqual([
        name,
        reach !== 'read' && expected.includes(item),
      ]);
    }
  }

  it(
    'offers, finds, describes, calls and asks exactly what the rules and grants say, on every way in',
    async () => {
      await fc.assert(
        fc.asyncProperty(policies, async (policy) => {
          await apply(policy);
          for (const subject of subjects) {
            for (const view of VIEWS) {
              const seen = subject.viewAt(view);
              const reach = subject.levelOn(policy, seen);
              const path = view === 'default' ? '/mcp' : `/mcp/views/${view}`;
              if (view === 'default') await checkRest(subject, policy.views[seen], reach);
              if (reach === null) {
                const init = await send(service.url, path, {
                  method: 'POST',
                  token: subject.token,
                  body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
                });
                expect(init.status).toBe(view === 'default' ? 403 : 404);
                continue;
              }
              await checkClient(legacyClient, path, subject, policy.views[seen], reach);
              await checkClient(modernClient, path, subject, policy.views[seen], reach);
              await checkSearch(`${path}/search`, subject, policy.views[seen], reach);
            }
          }
        }),
        { numRuns: runs },
      );
    },
    POLICIES * 120_000,
  );
});
