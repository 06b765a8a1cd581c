import type { EventBus } from '@nestjs/cqrs';
import { ToolsClassified } from '@app/events';
import type { Clock } from '@app/platform';
import type { ClassificationStore, ClaimedTool } from './classification.store.js';
import { ClassificationWorker } from './classification-worker.js';
import { Classifier, type ToolToClassify, type Verdict } from './classifier.js';
import type { SkillStore } from './skill.store.js';

class OneAtATime extends Classifier {
  readonly name = 'fake';
  readonly batchSize = 1;
  readonly concurrency = 1;

  classify(tools: readonly ToolToClassify[]): Promise<Verdict[]> {
    return Promise.resolve(tools.map(({ id }) => ({ toolId: id, assignments: [] })));
  }
}

describe(ClassificationWorker.name, () => {
  let due: { id: number; serverId: string }[];
  let looked: (readonly number[] | 'all')[];
  let writes: string;
  let now: number;
  let told: ToolsClassified[];
  let worker: ClassificationWorker;

  beforeEach(() => {
    due = [];
    looked = [];
    writes = 'some';
    now = 1_000_000;
    told = [];
    const queue = {
      writes: () => Promise.resolve(writes),
      enqueue: (ids?: readonly number[]) => Promise.resolve(void looked.push(ids ?? 'all')),
      claim: (limit: number) =>
        Promise.resolve(
          due.splice(0, limit).map((tool) => ({ ...tool, inputSchema: {} }) as ClaimedTool),
        ),
      settle: (outcomes: readonly { tool: { id: number } }[]) =>
        Promise.resolve(outcomes.map(({ tool }) => tool.id)),
    };
    worker = new ClassificationWorker(
      queue as unknown as ClassificationStore,
      { active: () => Promise.resolve([]) } as unknown as SkillStore,
      new OneAtATime(),
      { publish: (event: ToolsClassified) => void told.push(event) } as unknown as EventBus,
      { now: () => new Date(now) } as Clock,
    );
  });

  it('looks at the tools that it is told of, and at no others', async () => {
    await Promise.all([worker.request([1, 2]), worker.request([2, 3])]);
    expect(looked).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });

  it('looks at all tools when nobody says which, and when some were written untold', async () => {
    await worker.request();
    await worker.lookAgain();
    expect(looked).toEqual(['all']);
    writes = 'more';
    await worker.lookAgain();
    expect(looked).toEqual(['all', 'all']);
  });

  it('tells of the first batch at once, and of those of the next second together', async () => {
    due = [1, 2, 3, 4].map((id) => ({ id, serverId: id < 3 ? 'a' : 'b' }));
    await worker.request([1, 2, 3, 4]);
    expect(told).toEqual([
      new ToolsClassified(['a'], [1]),
      new ToolsClassified(['a', 'b'], [2, 3, 4]),
    ]);
  });

  it('tells of what came to pass when a second is over', async () => {
    due = [{ id: 1, serverId: 'a' }];
    await worker.request([1]);
    now += 1_000;
    due = [{ id: 2, serverId: 'a' }];
    await worker.request([2]);
    expect(told.map(({ toolIds }) => toolIds)).toEqual([[1], [2]]);
  });
});
