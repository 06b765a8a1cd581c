import { EntryTurns } from './entry-turns.js';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('EntryTurns', () => {
  let now: number;
  let turns: EntryTurns;
  let begun: string[];

  /** Sends a request that notes when it begins. */
  function send(principal: string, request = principal): void {
    const noted = begun;
    const waiting = turns.enter(principal);
    if (waiting) void waiting.then(() => noted.push(request));
    else noted.push(request);
  }

  beforeEach(() => {
    now = 0;
    begun = [];
    turns = new EntryTurns(() => now);
  });

  it('lets all requests of a principal that is alone begin at once', () => {
    for (let i = 0; i < 10; i++) send('ada');
    expect(begun).toHaveLength(10);
  });

  it('lets eight requests of each principal begin in a turn, in the order they came', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `ada ${i}`);
    send('bob');
    for (const name of names) send('ada', name);
    expect(begun).toEqual(['bob', ...names.slice(0, 8)]);
    await nextTurn();
    expect(begun).toEqual(['bob', ...names.slice(0, 16)]);
    await nextTurn();
    expect(begun).toEqual(['bob', ...names]);
  });

  it('lets a request wait behind those of its principal that wait', async () => {
    send('bob');
    for (let i = 0; i < 9; i++) send('ada', 'before');
    await nextTurn();
    for (let i = 0; i < 8; i++) send('ada', 'now');
    expect(begun.filter((name) => name === 'now')).toHaveLength(7);
    await nextTurn();
    expect(begun.filter((name) => name === 'now')).toHaveLength(8);
  });

  it('lets a request begin at once beside a hundred that wait', async () => {
    send('bob');
    for (let i = 0; i < 100; i++) send('ada');
    await nextTurn();
    await nextTurn();
    begun = [];
    send('bob');
    expect(begun).toEqual(['bob']);
  });

  it('does not slow down a principal for one that has been quiet for ten seconds', () => {
    send('bob');
    send('ada');
    now = 10_001;
    begun = [];
    for (let i = 0; i < 10; i++) send('ada');
    expect(begun).toHaveLength(10);
  });

  it('slows it down until ten seconds are over', () => {
    send('bob');
    send('ada');
    now = 10_000;
    begun = [];
    for (let i = 0; i < 10; i++) send('ada');
    expect(begun).toHaveLength(7);
  });

  it('counts the requests of each turn alone, and keeps no principal that is done', async () => {
    send('bob');
    for (let i = 0; i < 3; i++) {
      begun = [];
      for (let request = 0; request < 8; request++) send('ada');
      expect(begun).toHaveLength(8);
      await nextTurn();
    }
  });

  it('lets the requests of several principals wait side by side', async () => {
    for (let i = 0; i < 10; i++) for (const name of ['ada', 'bob']) send(name);
    const of = (name: string) => begun.filter((one) => one === name).length;
    // The first of all came before there was another principal.
    expect([of('ada'), of('bob')]).toEqual([9, 8]);
    await nextTurn();
    expect([of('ada'), of('bob')]).toEqual([10, 10]);
  });

  it('slows it down again with the first request of the other', () => {
    for (let i = 0; i < 5; i++) send('ada');
    now = 60_000;
    send('bob');
    begun = [];
    for (let i = 0; i < 10; i++) send('ada');
    expect(begun).toHaveLength(8);
  });
});
