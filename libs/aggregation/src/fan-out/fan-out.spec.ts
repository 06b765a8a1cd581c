import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogueServer } from '@app/catalogue';
import { AppError, type CancelSignal, Clock, type JsonObject, RawJsonObject } from '@app/platform';
import type { CallTool, Route } from '@app/routing';
import { TestMetrics } from '../../../../test/support/metrics.js';
import { FanOut, type ServerOutcome } from './fan-out.js';
import type { PlannedLookUp } from '../choose/tool-choice.js';
import { queriedServers, queryDuration, QueryMetrics, queryPlans } from '../ask/query.metrics.js';
import type { Target } from '../choose/targets.js';

class Unavailable extends AppError {
  constructor(cause?: Error) {
    super('Server unavailable: a', { kind: 'unavailable', code: 'SERVER_UNAVAILABLE', cause });
  }
}

type Behaviour = (signal: CancelSignal, query: unknown) => Promise<JsonObject>;

const target = (name: string, tools = [name]): Target => ({
  server: { id: name, name } as CatalogueServer,
  calls: tools.map((tool) => ({
    tool: { originalName: tool } as never,
    arguments: { query: 'green tea' },
    byWord: [{ query: 'green' }, { query: 'tea' }],
    why: '',
  })),
  refused: [],
  safe: [],
});
const says = (text: string): Promise<JsonObject> =>
  Promise.resolve({ content: [{ type: 'text', text }] });
const never = (): Promise<JsonObject> => new Promise(() => undefined);

function queryMetrics(metrics = new TestMetrics()): QueryMetrics {
  return new QueryMetrics(
    metrics.of(queryDuration),
    metrics.of(queriedServers),
    metrics.of(queryPlans),
  );
}

async function outcomesOf(
  behaviours: Record<string, Behaviour>,
  targets: Target[],
  signal = new AbortController().signal,
): Promise<{ outcomes: ServerOutcome[]; order: string[] }> {
  const commands = {
    execute: async ({ tool: route, params, caller }: CallTool) => ({
      result: RawJsonObject.of(
        (await behaviours[(route as Route).tool.originalName]?.(
          caller.signal,
          (params['arguments'] as JsonObject | undefined)?.['query'],
        )) ?? {},
      ),
    }),
  };
  const order: string[] = [];
  const fanOut = new FanOut(commands as never, new Clock(), queryMetrics());
  const outcomes = await fanOut.ask(targets, {
    caller: { actor: { name: 'ada', ip: null }, signal },
    withinMs: 1_000,
    onOutcome: ({ target: { server } }) => order.push(server.name),
  });
  return { outcomes, order };
}

describe(FanOut, () => {
  it('asks all servers concurrently and gives each its timeout', async () => {
    const aborted: string[] = [];
    const hang: Behaviour = (signal) => {
      signal.addEventListener('abort', () => aborted.push('hang'));
      return never();
    };
    const slow: Behaviour = () => sleep(60).then(() => says('slow words'));
    const { outcomes, order } = await outcomesOf({ hang, slow, quick: () => says('quick words') }, [
      target('hang'),
      target('quick'),
      target('slow'),
    ]);
    expect(order).toEqual(['quick', 'slow', 'hang']);
    expect(outcomes.map(({ status }) => status)).toEqual(['timed_out', 'succeeded', 'succeeded']);
    expect(outcomes[0]).toMatchObject({ error: 'timeout after 1s', passages: [] });
    expect(aborted).toEqual(['hang']);
  });

  it('gives each passage its server, tool and position', async () => {
    const { outcomes } = await outcomesOf({ a: () => says('["one","two"]') }, [target('a')]);
    expect(outcomes[0]?.passages).toMatchObject([
      { text: 'one', server: 'a', tool: 'a', position: 0 },
      { text: 'two', server: 'a', tool: 'a', position: 1 },
    ]);
  });

  it('reports the failure of one server without affecting the others', async () => {
    const { outcomes } = await outcomesOf(
      {
        a: () => Promise.reject(new Unavailable(new Unavailable())),
        b: () => Promise.resolve({ isError: true, content: [{ type: 'text', text: 'no\nluck' }] }),
        c: () => says('fine words'),
      },
      [target('a'), target('b'), target('c')],
    );
    expect(outcomes.map(({ error }) => error)).toEqual([
      'Server unavailable: a',
      'b answered with an error: no luck',
      undefined,
    ]);
  });

  it('does not call a server that cannot be asked', async () => {
    const { outcomes } = await outcomesOf({}, [{ ...target('a'), problem: 'disconnected' }]);
    expect(outcomes).toMatchObject([
      { status: 'unavailable', error: 'disconnected', elapsedMs: 0 },
    ]);
  });

  it('keeps the answer of one tool when another tool of the server fails', async () => {
    const { outcomes } = await outcomesOf({ good: () => says('fine words'), bad: never }, [
      target('a', ['good', 'bad']),
    ]);
    expect(outcomes).toMatchObject([{ status: 'succeeded', passages: [{ text: 'fine words' }] }]);
  });

  describe('a look-up', () => {
    const lookingUp = (followUp: PlannedLookUp['followUp'], plain = ['plain']): Target[] => {
      const [found] = target('a', ['docs']).calls;
      const [call] = target('a', ['ids']).calls;
      if (!found || !call) throw new Error('nothing planned');
      const next: PlannedLookUp['followUp'] = async (...args) => ({
        ...found,
        ...(await followUp(...args)),
      });
      return [{ ...target('a', plain), lookUp: { call, followUp: next }, planner: 'chosen' }];
    };
    const found = (answer: string) => Promise.resolve({ arguments: { query: answer } } as never);
    const askedOf = (outcome: ServerOutcome | undefined) =>
      outcome?.asked.map(({ tool }) => tool.originalName);

    it('supplies the arguments of the next tool and is not a result itself', async () => {
      const { outcomes } = await outcomesOf(
        { ids: () => says('/react'), docs: (_signal, query) => says(`docs of ${String(query)}`) },
        lookingUp(found),
      );
      expect(outcomes).toMatchObject([
        { status: 'succeeded', planner: 'chosen', passages: [{ text: 'docs of /react' }] },
      ]);
      expect(askedOf(outcomes[0])).toEqual(['ids', 'docs']);
    });

    it.each<[string, Behaviour, PlannedLookUp['followUp'], RegExp]>([
      ['hangs', never, found, /timeout after 0\.\ds/],
      ['is refused', () => Promise.reject(new Unavailable()), found, /Server unavailable: a/],
      ['is an error', () => says('no').then((a) => ({ ...a, isError: true })), found, /error: no/],
      ['finds nothing', () => says('[]'), found, /ids found nothing/],
      ['is of no use', () => says('x'), () => Promise.reject(new Unavailable()), /unavailable/],
      ['is not read in time', () => says('x'), () => new Promise(() => undefined), /timeout/],
    ])(
      'that %s falls back to the plain choice within the timeout',
      async (_what, ids, followUp, reason) => {
        const { outcomes } = await outcomesOf(
          { ids, plain: () => says('plain words') },
          lookingUp(followUp),
        );
        expect(outcomes).toMatchObject([
          { status: 'succeeded', passages: [{ text: 'plain words' }] },
        ]);
        expect(outcomes[0]?.planner).toMatch(/^chosen; its look-up failed: /);
        expect(outcomes[0]?.planner).toMatch(reason);
        expect(askedOf(outcomes[0])).toEqual(['ids', 'plain']);
      },
    );

    it('without a plain choice fails with the reason', async () => {
      const { outcomes } = await outcomesOf({ ids: () => says('[]') }, lookingUp(found, []));
      expect(outcomes).toMatchObject([
        { status: 'failed', error: 'chosen; its look-up failed: ids found nothing' },
      ]);
    });
  });

  it('retries with single words when the whole query finds nothing', async () => {
    const asked: unknown[] = [];
    const literal: Behaviour = (_signal, query) => {
      asked.push(query);
      return query === 'green' ? never() : says(query === 'tea' ? '["Ada likes tea"]' : '[]');
    };
    const { outcomes } = await outcomesOf({ literal }, [target('literal')]);
    expect(asked).toEqual(['green tea', 'green', 'tea']);
    expect(outcomes).toMatchObject([
      { status: 'succeeded', passages: [{ text: 'Ada likes tea', position: 0 }] },
    ]);
  });

  it('has no outcomes without targets', async () => {
    expect((await outcomesOf({}, [])).outcomes).toEqual([]);
  });
});
