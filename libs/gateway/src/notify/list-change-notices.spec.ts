import { FakeClock } from '../../../../test/support/fake-clock.js';
import { ListChangeNotices } from './list-change-notices.js';

describe(ListChangeNotices.name, () => {
  it('notifies each client at once, and once more after a burst', async () => {
    const clock = new FakeClock();
    const changes = new ListChangeNotices(clock);
    let told = 0;
    for (let i = 0; i < 200; i++) changes.watch(() => told++);
    for (let i = 0; i < 10_000; i++) changes.tell('resources');
    expect(told).toBe(200);
    await clock.advance(60_000);
    expect(told).toBe(400);
  });

  it('notifies of each list separately, and not after unsubscribing', () => {
    const changes = new ListChangeNotices(new FakeClock());
    const heard: string[] = [];
    changes.watch(({ kind }) => void heard.push(kind));
    changes.watch(() => void heard.push('stopped'))();
    changes.tell('tools');
    changes.tell('prompts');
    expect(heard).toEqual(['tools', 'prompts']);
  });
});
