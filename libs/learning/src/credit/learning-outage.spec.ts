import { Logger } from '@nestjs/common';
import { DatabaseUnavailable, type Env, type Replicas } from '@app/platform';
import type { StaticModel } from '@app/vectors';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import type { LearntTools } from '../recall/learnt-tools.js';
import type { CallerUses, ToolUseStore } from '../rows/tool-use.store.js';
import { Learning } from './learning.js';
import { RecentSearches } from './recent-searches.js';

const caller = { name: 'ada', subject: 'token:ada' };

describe('uses that cannot be stored', () => {
  let warned: unknown[];
  let stored: (readonly CallerUses[])[];
  let problem: Error | undefined;
  let learning: Learning;

  beforeEach(() => {
    warned = [];
    stored = [];
    problem = undefined;
    Logger.overrideLogger({
      log: () => undefined,
      error: () => undefined,
      warn: (_line: unknown, event: unknown) => void warned.push(event),
    });
    const rows = {
      add: (_model: string, all: readonly CallerUses[]) =>
        problem ? Promise.reject(problem) : Promise.resolve(void stored.push(all)),
    };
    const clock = new FakeClock();
    learning = new Learning(
      new RecentSearches(clock),
      rows as unknown as ToolUseStore,
      { load: () => Promise.resolve() } as unknown as LearntTools,
      { id: 'model' } as StaticModel,
      { tell: () => Promise.resolve() } as unknown as Replicas,
      clock,
      { MCP_AGGREGATOR_SEARCH_LEARNING: true } as Env,
    );
  });
  afterEach(() => Logger.overrideLogger(false));

  function use(toolId: number): void {
    const session = {};
    const vector = Float32Array.from([1, 0]);
    learning.noteSearch({ caller, viewId: 'view', vector, tools: [toolId], session });
    learning.noteCall({ caller, toolId, session, searchId: undefined });
  }

  it('are kept during an outage of the database, which is reported once', async () => {
    problem = new DatabaseUnavailable('unreachable');
    for (let tool = 1; tool <= 3; tool++) {
      use(tool);
      await learning.flush();
    }
    expect(warned).toEqual(['learning.uses_not_stored']);
    problem = undefined;
    await learning.flush();
    expect(stored.flat().map(({ toolId }) => toolId)).toEqual([1, 2, 3]);
  });

  it('are reported at the next outage too', async () => {
    for (const trouble of ['unreachable', undefined, 'slow'] as const) {
      problem = trouble && new DatabaseUnavailable(trouble);
      use(1);
      await learning.flush();
    }
    expect(warned).toEqual(['learning.uses_not_stored', 'learning.uses_not_stored']);
  });

  it('are reported each time that they are lost', async () => {
    problem = new Error('a defect');
    use(1);
    await learning.flush();
    use(2);
    await learning.flush();
    problem = undefined;
    await learning.flush();
    expect(warned).toHaveLength(2);
    expect(stored).toEqual([]);
  });
});
