import { ToolsClassified } from '@app/events';
import type { Clock, Signals } from '@app/platform';
import { eventually } from '../../../../test/support/eventually.js';
import {
  type ClaimedTool,
  type ClassificationQueue,
  lookIn,
} from './classification-queue.store.js';
import { ClassificationWorker } from './classification-worker.js';
import { Classifier, type ToolToClassify, type Classification } from './classifier.js';
import type { SkillStore } from '../skills/skill.store.js';
import type { SuggestionStore } from '../skills/suggestion.store.js';

class OneAtATime extends Classifier {
  readonly name = 'fake';
  readonly batchSize = 1;
  readonly concurrency = 1;

  readonly asked: number[] = [];
  before: (id: number) => Promise<void> = () => Promise.resolve();

  async classify(tools: readonly ToolToClassify[]): Promise<Classification[]> {
    for (const { id } of tools) {
      this.asked.push(id);
      await this.before(id);
    }
    return tools.map(({ id }) => ({ toolId: id, assignments: [] }));
  }
}

describe(ClassificationWorker.name, () => {
  let due: { id: number; serverId: string }[];
  let kept: { toolId: number; serverId: string }[];
  let looked: (readonly number[] | 'all')[];
  let writes: string;
  let now: number;
  let secondIsOver: () => void;
  let told: ToolsClassified[];
  let classifier: OneAtATime;
  let worker: ClassificationWorker;

  beforeEach(() => {
    due = [];
    kept = [];
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
      takeKept: () => kept.splice(0),
      settle: (outcomes: readonly { tool: { id: number } }[]) =>
        Promise.resolve(outcomes.map(({ tool }) => tool.id)),
    };
    worker = new ClassificationWorker(
      queue as unknown as ClassificationQueue,
      { active: () => Promise.resolve([]) } as unknown as SkillStore,
      {} as SuggestionStore,
      classifier,
      {
        tell: (event: ToolsClassified) => Promise.resolve(void told.push(event)),
      } as unknown as Signals,
      {
        now: () => new Date(now),
        monotonic: () => now,
        sleep: () =>
          new Promise<void>((resolve) => {
            secondIsOver = resolve;
          }),
      } as Clock,
    );
  });

  it('checks only the requested tools', async () => {
    await Promise.all([worker.request([1, 2]), worker.request([2, 3])]);
    expect(looked).toEqual([
      [1, 2],
      [2, 3],
    ]);
  });

  it('checks all tools without ids, or when some were written without a request', async () => {
    await worker.request();
    await worker.lookAgain();
    expect(looked).toEqual(['all']);
    writes = 'more';
    await worker.lookAgain();
    expect(looked).toEqual(['all', 'all']);
  });

  it('may have work when tools are due, or were written since the last scan and are no longer', async () => {
    const mayHaveWork = (): boolean =>
      worker.mayHaveWork(lookIn(due.length > 0 ? `due ${writes}` : writes));
    expect(mayHaveWork()).toBe(true);
    await worker.lookAgain();
    expect(mayHaveWork()).toBe(false);
    due = [{ id: 1, serverId: 'a' }];
    expect(mayHaveWork()).toBe(true);
    due = [];
    writes = 'more';
    expect(mayHaveWork()).toBe(false);
    expect(mayHaveWork()).toBe(true);
  });

  it('publishes tools that changed and keep the skills that a person chose', async () => {
    kept = [{ toolId: 7, serverId: 'a' }];
    await worker.request([7]);
    expect(told).toEqual([new ToolsClassified(['a'], [7])]);
  });

  it('publishes the first batch at once, and those of the next second together', async () => {
    due = [1, 2, 3, 4].map((id) => ({ id, serverId: id < 3 ? 'a' : 'b' }));
    await worker.request([1, 2, 3, 4]);
    expect(told).toEqual([
      new ToolsClassified(['a'], [1]),
      new ToolsClassified(['a', 'b'], [2, 3, 4]),
    ]);
  });

  it('publishes finished batches after a second, while others are still running', async () => {
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

  it('publishes at once after a second without results', async () => {
    due = [{ id: 1, serverId: 'a' }];
    await worker.request([1]);
    now += 1_000;
    due = [{ id: 2, serverId: 'a' }];
    await worker.request([2]);
    expect(told.map(({ toolIds }) => toolIds)).toEqual([[1], [2]]);
  });
});
