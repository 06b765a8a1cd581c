import type { EventBus } from '@nestjs/cqrs';
import { ToolsClassified } from '@app/events';
import type { Clock } from '@app/platform';
import { eventually } from '../../../test/support/eventually.js';
import type { ClassificationStore, ClaimedTool } from './classification.store.js';
import { ClassificationWorker } from './classification-worker.js';
import { Classifier, type ToolToClassify, type Verdict } from './classifier.js';
import type { SkillStore } from './skill.store.js';

class OneAtATime extends Classifier {
  readonly name = 'fake';
  readonly batchSize = 1;
  readonly concurrency = 1;

  readonly asked: number[] = [];
  before: (id: number) => Promise<void> = () => Promise.resolve();

  async classify(tools: readonly ToolToClassify[]): Promise<Verdict[]> {
    for (const { id } of tools) {
      this.asked.push(id);
      await this.before(id);
    }
    return tools.map(({ id }) => ({ toolId: id, assignments: [] }));
  }
}

describe(ClassificationWorker.name, () => {
  let due: { id: number; serverId: string }[];
  let looked: (readonly number[] | 'all')[];
  let writes: string;
  let now: number;
  let secondIsOver: () => void;
  let told: ToolsClassified[];
  let classifier: OneAtATime;
  let worker: ClassificationWorker;

  beforeEach(() => {
    due = [];
    looked = [];
    writes = 'some';
    now = 1_000_000;
    told = [];
    classifier = new OneAtATime();
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
      classifier,
      { publish: (event: ToolsClassified) => void told.push(event) } as unknown as EventBus,
      {
        now: () => new Date(now),
        sleep: () =>
          new Promise<void>((resolve) => {
            secondIsOver = resolve;
          }),
      } as Clock,
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

  it('tells of what has come when the second is over, while other batches still take their time', async () => {
    let answer = (): void => undefined;
    const slow = new Promise<void>((resolve) => {
      answer = resolve;
    });
    due = [1, 2, 3].map((id) => ({ id, serverId: 'a' }));
    classifier.before = (id) => (id === 3 ? slow : Promise.resolve());
    const run = worker.request([1, 2, 3]);
    await eventually(() => expect(classifier.asked).toEqual([1, 2, 3]));
    expect(told.map(({ toolIds }) => toolIds)).toEqual([[1]]);
    secondIsOver();
    await eventually(() => expect(told.map(({ toolIds }) => toolIds)).toEqual([[1], [2]]));
    answer();
    await run;
    expect(told.map(({ toolIds }) => toolIds)).toEqual([[1], [2], [3]]);
  });

  it('tells at once of what comes after a quiet second', async () => {
    due = [{ id: 1, serverId: 'a' }];
    await worker.request([1]);
    now += 1_000;
    due = [{ id: 2, serverId: 'a' }];
    await worker.request([2]);
    expect(told.map(({ toolIds }) => toolIds)).toEqual([[1], [2]]);
  });
});
