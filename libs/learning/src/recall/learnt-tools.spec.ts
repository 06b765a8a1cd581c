import { CatalogueReplaced } from '@app/events';
import { eventually } from '../../../../test/support/eventually.js';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { LearntTools } from './learnt-tools.js';

const VIEW = 'view';

describe(LearntTools, () => {
  function start() {
    const reads: (number | undefined)[] = [];
    let goOn = (): void => undefined;
    let isGone = false;
    const remove = (): void => {
      isGone = true;
    };
    const blocked = new Promise<void>((resolve) => (goOn = resolve));
    const rows = {
      async *read(_model: string, _now: Date, tools?: readonly unknown[]) {
        reads.push(tools?.length);
        await blocked;
        if (!isGone)
          yield [{ viewId: VIEW, toolId: 1, caller: 'ada', uses: { count: 1, mean: axis } }];
      },
    };
    const axis = Float32Array.of(1, 0);
    const model = { id: 'static', dimensions: 2, embed: () => undefined };
    const catalogue = { current: { toolsById: new Map() } };
    const learnt = new LearntTools(
      rows as never,
      model as never,
      catalogue as never,
      new FakeClock(),
      { MCP_AGGREGATOR_SEARCH_LEARNING: true } as never,
    );
    return { learnt, reads, goOn, remove };
  }

  it('reads all rows once for all who ask while they are read, and once after', async () => {
    const { learnt, reads, goOn } = start();
    const loads = [learnt.load(), learnt.load(), learnt.load(), learnt.load()];
    goOn();
    await Promise.all(loads);
    expect(reads).toEqual([undefined, undefined]);
    expect(learnt.of(VIEW)?.size).toBe(1);
  });

  it('reads the rows of the tools that were used', async () => {
    const { learnt, reads, goOn } = start();
    goOn();
    await Promise.all([1, 2].map((toolId) => learnt.load([{ viewId: VIEW, toolId }])));
    expect(reads).toEqual([1, 1]);
  });

  it('forgets a tool that was removed, whose rows went with it, and asks for no others', async () => {
    const { learnt, reads, goOn, remove } = start();
    goOn();
    await learnt.load();
    expect(learnt.size).toBe(1);
    remove();
    learnt.follow(new CatalogueReplaced([], [], [], [1, 2]));
    await eventually(() => expect(learnt.of(VIEW)).toBeUndefined());
    expect(reads).toEqual([undefined, 1]);
  });
});
