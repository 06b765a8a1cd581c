import { UnknownUses } from './unknown-uses.js';

const callerOf = (message: string): string => message.split(' ')[2] ?? '';

describe(UnknownUses, () => {
  it('are asked about once, with search, tool and caller', () => {
    const unknown = new UnknownUses();
    unknown.add('q3ZkT0b1xYcA', 1, 'ada');
    unknown.add('q3ZkT0b1xYcA', 1, 'ada');
    unknown.add('q3ZkT0b1xYcA', 2, 'ada');
    expect(unknown.isEmpty).toBe(false);
    expect(unknown.take()).toEqual(['q3ZkT0b1xYcA 1 ada', 'q3ZkT0b1xYcA 2 ada']);
    expect(unknown.isEmpty).toBe(true);
    expect(unknown.take()).toEqual([]);
  });

  it('of a caller who invents searches take no room of another', () => {
    const unknown = new UnknownUses();
    for (let id = 0; id < 1_000; id++) unknown.add(`invented-${id}`, 1, 'mallory');
    unknown.add('q3ZkT0b1xYcA', 1, 'ada');
    const callers = unknown.take().map(callerOf);
    expect(callers.filter((caller) => caller === 'mallory')).toHaveLength(50);
    expect(callers).toContain('ada');
  });

  it('are bounded, and those who have most of the room give way', () => {
    const unknown = new UnknownUses();
    for (const caller of ['a', 'b', 'c', 'd', 'e', 'f']) {
      for (let id = 0; id < 100; id++) unknown.add(`invented-${id}`, 1, caller);
    }
    unknown.add('q3ZkT0b1xYcA', 1, 'ada');
    const callers = unknown.take().map(callerOf);
    expect(callers).toHaveLength(200);
    expect(callers).toContain('ada');
  });
});
