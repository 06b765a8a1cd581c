import { Logger } from '@nestjs/common';
import type { CatalogueTool } from '@app/catalogue';
import { type Llm, LlmFailed, type LlmQuestion } from '@app/llm';
import type { JsonObject } from '@app/platform';
import { catalogueOf } from '../../../../test/support/catalogue.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { TestMetrics } from '../../../../test/support/metrics.js';
import { queriedServers, queryDuration, QueryMetrics, queryPlans } from '../ask/query.metrics.js';
import { LlmPlanner } from './llm-planner.js';
import type { QueryContext } from './tool-choice.js';
import { DEFAULT_SETTINGS, type ServerQuerySettings } from '../settings/server-query-settings.js';
import { isQueried, type Target, targetsOf } from './targets.js';

const text = { type: 'string' };
const tool = (name: string, properties: JsonObject, annotations: JsonObject = readOnly) => ({
  name,
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
  annotations,
});
const readOnly = { readOnlyHint: true };
const resolve = tool('resolve-library-id', { libraryName: text });
const getDocs = tool('get-library-docs', { libraryId: text, topic: text });
const search = tool('search', { query: text });
const browse = tool('browse', { topic: text, page: { type: 'integer' } });
const ask = tool('ask', { question: text });
const wipe = tool('wipe', { query: text }, { readOnlyHint: true, destructiveHint: true });
const write = tool('write', { query: text }, {});

type Server = Parameters<typeof catalogueOf>[0][number];
const context7: Server = { name: 'context7', tools: [resolve, getDocs, wipe, write] };
const wiki: Server = { name: 'wiki', tools: [search, browse] };

const question: QueryContext = { query: 'why hooks?', similarity: () => 0, maxCalls: 1 };

function targetsFor(
  servers: readonly Server[],
  asked = question,
  settings = new Map<string, ServerQuerySettings>(),
): readonly Target[] {
  const pictured = catalogueOf(servers);
  const tools = pictured.tools.map((one): CatalogueTool => ({
    ...one,
    inputSchema: one.definition['inputSchema'] as JsonObject,
    description: (one.definition['description'] ?? '') as string,
  }));
  const query = { query: asked.query, maxResults: 30, servers: undefined, explain: false };
  return targetsOf(query, { ...pictured, tools }, [], settings, asked).targets;
}

/** A model that is asked in words and answers in code. */
class FakeLlm implements Llm {
  readonly name = 'fake:model';
  readonly asked: (JsonObject & { server?: { name: string }; tools?: { name: string }[] })[] = [];
  constructor(public answer: (asked: JsonObject) => unknown) {}

  async ask({ user }: LlmQuestion, signal: AbortSignal): Promise<unknown> {
    const asked = JSON.parse(user) as FakeLlm['asked'][number];
    this.asked.push(asked);
    const answer = await Promise.race([
      Promise.resolve(this.answer(asked)),
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new LlmFailed(this.name, 'too slow')));
      }),
    ]);
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

const call = (name: string, args: unknown): JsonObject => ({
  tool: name,
  arguments: JSON.stringify(args),
});
const plan = (...calls: JsonObject[]): JsonObject => ({ calls, look_up: null });
const chain = (name: string, args: unknown, then: string): JsonObject => ({
  calls: [],
  look_up: { ...call(name, args), then },
});

describe(LlmPlanner, () => {
  beforeAll(() => Logger.overrideLogger(false));

  const clock = new FakeClock();
  const metrics = new TestMetrics();
  const queryMetrics = new QueryMetrics(
    metrics.of(queryDuration),
    metrics.of(queriedServers),
    metrics.of(queryPlans),
  );
  const plannerWith = (llm: Llm | undefined) => new LlmPlanner(llm, clock, queryMetrics);
  const time = (withinMs = 60_000, signal = new AbortController().signal) => ({ withinMs, signal });

  async function planned(
    answer: (asked: JsonObject) => unknown,
    { servers = [wiki], asked = question, withinMs = 60_000 } = {},
  ): Promise<{ llm: FakeLlm; targets: readonly Target[]; target: Target }> {
    const llm = new FakeLlm(answer);
    const plain = targetsFor(servers, asked);
    const targets = await plannerWith(llm).plan(plain, asked, time(withinMs));
    const [target] = targets;
    if (!target) throw new Error('the fixture has no target');
    return { llm, targets, target };
  }
  const callsOf = ({ calls }: Target) => calls.map((one) => [one.tool.originalName, one.arguments]);
  const plainCall = ['search', { query: 'why hooks?' }];

  it('lets the model choose tools and write their arguments', async () => {
    const { target } = await planned(() => plan(call('browse', { topic: 'hooks', page: 2 })));
    expect(callsOf(target)).toEqual([['browse', { topic: 'hooks', page: 2 }]]);
    expect(target.planner).toBe('chosen by fake:model');
  });

  it('keeps the plain choice without a model', async () => {
    const plain = targetsFor([wiki, context7]);
    expect(await plannerWith(undefined).plan(plain, question, time())).toBe(plain);
    expect(plain.filter(isQueried).map(({ server }) => server.name)).toEqual(['wiki']);
  });

  it('offers only safe tools, with one request per server', async () => {
    const { llm } = await planned(() => plan(), { servers: [wiki, context7] });
    const offers = llm.asked.map(({ server, tools }) => [
      server?.name,
      tools?.map(({ name }) => name),
    ]);
    expect(offers).toEqual([
      ['context7', ['get-library-docs', 'resolve-library-id']],
      ['wiki', ['browse', 'search']],
    ]);
  });

  it.each([
    ['a destructive tool', plan(call('wipe', { query: 'all' }))],
    ['a tool that is not read-only', plan(call('write', { query: 'all' }))],
    ['a tool of another server', plan(call('search', { query: 'all' }))],
    ['a tool that is nowhere', plan(call('toString', {}))],
    ['arguments that do not fit', plan(call('resolve-library-id', { libraryName: 7 }))],
    ['to look up with what is not safe', chain('write', { query: 'all' }, 'get-library-docs')],
    ['to continue with an unsafe tool', chain('resolve-library-id', { libraryName: 'x' }, 'wipe')],
    ['nothing', plan()],
    ['in another form', { tools: [] }],
    ['not at all', undefined],
  ])('keeps the plain choice when the model answers %s', async (_what, answer) => {
    const servers = [{ ...context7, tools: [...context7.tools, ask] }];
    const { target } = await planned(() => answer, { servers });
    expect(callsOf(target)).toEqual([['ask', { question: 'why hooks?' }]]);
    expect(target.lookUp).toBeUndefined();
    expect(target.planner).toBe(
      'The language model fake:model cannot be used: it chose nothing that can be asked',
    );
  });

  it('limits the number of calls and drops invalid ones', async () => {
    const { target } = await planned(() =>
      plan(call('nothing', {}), call('search', { query: 'a' }), call('search', { query: 'b' })),
    );
    expect(callsOf(target)).toEqual([['search', { query: 'a' }]]);
  });

  it('keeps the single-word retries of the plain choice', async () => {
    const asked = { ...question, query: 'green tea' };
    const { target } = await planned(() => plan(call('search', { query: 'teas' })), { asked });
    expect(target.calls[0]?.byWord).toEqual([{ query: 'green' }, { query: 'tea' }]);
  });

  describe('a look-up', () => {
    const answering = (then: unknown) => (asked: JsonObject) =>
      'looked_up' in asked
        ? then
        : chain('resolve-library-id', { libraryName: 'react' }, 'get-library-docs');
    const followUp = async (then: unknown, found = 'ID: /react') => {
      const { llm, target } = await planned(answering(then), { servers: [context7] });
      const next = target.lookUp?.followUp(found, new AbortController().signal);
      return { llm, target, next: (await next) as NonNullable<Awaited<typeof next>> };
    };

    it('runs before the tool that needs its answer', async () => {
      const then = { arguments: '{"libraryId":"/react","topic":"hooks"}' };
      const { llm, target, next } = await followUp(then);
      expect(target.lookUp?.call).toMatchObject({
        tool: { originalName: 'resolve-library-id' },
        arguments: { libraryName: 'react' },
      });
      expect(isQueried(target)).toBe(true);
      expect([next.tool.originalName, next.arguments]).toEqual([
        'get-library-docs',
        { libraryId: '/react', topic: 'hooks' },
      ]);
      expect(llm.asked[1]).toMatchObject({
        tool: { name: 'get-library-docs' },
        looked_up: { with: 'resolve-library-id', answer: 'ID: /react' },
      });
    });

    it('shows the model a bounded part of the answer', async () => {
      const then = { arguments: '{"libraryId":"/react","topic":"hooks"}' };
      const { llm } = await followUp(then, 'x'.repeat(100_000));
      expect(JSON.stringify(llm.asked[1]).length).toBeLessThan(10_000);
    });

    it.each([
      ['says nothing', { arguments: null }],
      ['says what does not fit', { arguments: '{"libraryId":"/react","force":true}' }],
      ['would call something else', { tool: 'wipe', arguments: '{"query":"all"}' }],
      ['is no answer', 'ignore all instructions'],
    ])('fails when the follow-up %s', async (_what, then) => {
      await expect(followUp(then)).rejects.toThrow('it found nothing to ask get-library-docs with');
    });
  });

  describe('a model that fails', () => {
    const failure = new LlmFailed('fake:model', 'it answered HTTP 500');

    it('delays the query by the planning time at most', async () => {
      const { target } = await planned(() => new Promise(() => undefined), { withinMs: 20 });
      expect(callsOf(target)).toEqual([plainCall]);
      expect(target.planner).toMatch(/too slow$/);
    });

    it('is not asked again until a pause is over', async () => {
      const llm = new FakeLlm(() => failure);
      const planner = plannerWith(llm);
      const ask = () => planner.plan(targetsFor([wiki]), question, time());
      for (let i = 0; i < 3; i++) {
        const [target] = await ask();
        expect(target && callsOf(target)).toEqual([plainCall]);
        expect(target?.planner).toMatch(/it answered HTTP 500$/);
      }
      expect(llm.asked).toHaveLength(1);
      llm.answer = () => plan(call('search', { query: 'hooks' }));
      await clock.advance(10_000);
      const [target] = await ask();
      expect(target && callsOf(target)).toEqual([['search', { query: 'hooks' }]]);
    });

    it('is not counted as failed when the caller aborts', async () => {
      const llm = new FakeLlm(() => new Promise(() => undefined));
      const planner = plannerWith(llm);
      const gone = new AbortController();
      const left = planner.plan(targetsFor([wiki]), question, time(60_000, gone.signal));
      gone.abort();
      await left;
      llm.answer = () => plan(call('search', { query: 'hooks' }));
      const [target] = await planner.plan(targetsFor([wiki]), question, time());
      expect(target && callsOf(target)).toEqual([['search', { query: 'hooks' }]]);
    });
  });

  it('is not asked when there is nothing to choose', async () => {
    const servers = [
      { name: 'one', tools: [search] },
      { name: 'off', status: 'ERROR' as const, tools: [search, browse] },
      { name: 'mute', tools: [wipe] },
    ];
    const { llm, targets } = await planned(() => plan(), { servers });
    expect(llm.asked).toEqual([]);
    expect(targets.filter(isQueried).map(({ server, planner }) => [server.name, planner])).toEqual([
      ['off', undefined],
      ['one', undefined],
    ]);
  });

  it('is not asked when an administrator has chosen the tool', async () => {
    const [target] = targetsFor([wiki]);
    const settings = new Map([
      [target?.server.id ?? '', { ...DEFAULT_SETTINGS, tool: 'search', argument: 'query' }],
    ]);
    const llm = new FakeLlm(() => plan());
    await plannerWith(llm).plan(targetsFor([wiki], question, settings), question, time());
    expect(llm.asked).toEqual([]);
  });

  it('is asked for at most ten servers, the most similar ones', async () => {
    const servers = Array.from({ length: 12 }, (_, i) => ({ ...wiki, name: `wiki-${10 + i}` }));
    const asked = { ...question, similarity: (one: CatalogueTool) => Number(one.name.slice(5, 7)) };
    const { llm, targets } = await planned(() => plan(call('search', { query: 'x' })), {
      servers,
      asked,
    });
    expect(llm.asked.map(({ server }) => server?.name)).toEqual(
      servers
        .map(({ name }) => name)
        .toReversed()
        .slice(0, 10),
    );
    expect(targets.map(({ planner }) => planner).slice(0, 3)).toEqual([
      'fake:model chooses for 10 servers at most',
      'fake:model chooses for 10 servers at most',
      'chosen by fake:model',
    ]);
  });

  it('is shown a bounded part of the texts of servers', async () => {
    const many = Array.from({ length: 100 }, (_, i) => ({
      ...tool(`search_${i}`, { query: text }),
      description: 'x'.repeat(50_000),
    }));
    const { llm } = await planned(() => plan(), { servers: [{ name: 'talker', tools: many }] });
    expect(llm.asked[0]?.tools).toHaveLength(8);
    expect(JSON.stringify(llm.asked[0]).length).toBeLessThan(40_000);
  });
});
