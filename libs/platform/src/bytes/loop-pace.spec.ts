import { inOwnTurn, LoopPace } from './loop-pace.js';

const turn = (): Promise<void> => new Promise((done) => setImmediate(done));

describe(LoopPace.name, () => {
  it('runs work at once until the turn is used up, and the rest in order in later turns', async () => {
    let clock = 0;
    const pace = new LoopPace(() => clock);
    const done: number[] = [];
    const work = (n: number) => (): void => {
      clock += 1.2;
      done.push(n);
    };
    for (let n = 0; n < 5; n++) {
      if (pace.isOver) pace.later(work(n));
      else pace.run(work(n));
    }
    expect(done).toEqual([0, 1]);
    await turn();
    expect(done).toEqual([0, 1, 2, 3]);
    await turn();
    expect(done).toEqual([0, 1, 2, 3, 4]);
    expect(pace.isOver).toBe(false);
  });

  it('counts the time of work inside other work once', () => {
    let clock = 0;
    const pace = new LoopPace(() => clock);
    pace.run(() => pace.run(() => (clock += 1.2)));
    expect(pace.isOver).toBe(false);
    pace.run(() => (clock += 1.2));
    expect(pace.isOver).toBe(true);
  });

  it('begins a new turn without anything that waits', async () => {
    let clock = 0;
    const pace = new LoopPace(() => clock);
    pace.run(() => {
      clock += 50;
    });
    expect(pace.isOver).toBe(true);
    await turn();
    expect(pace.isOver).toBe(false);
  });
});

describe(inOwnTurn.name, () => {
  it('runs one work in each turn of the event loop, in order, with what it resolves', async () => {
    const done: string[] = [];
    const end = new Promise<void>((resolve) => {
      for (const name of ['a', 'b', 'c']) {
        inOwnTurn(() => {
          done.push(name);
          void Promise.resolve().then(() => done.push(`after ${name}`));
          if (name === 'c') resolve();
        });
      }
    });
    const turns = (async () => {
      for (let i = 0; i < 3; i++) {
        await turn();
        done.push('turn');
      }
    })();
    expect(done).toEqual([]);
    await Promise.all([end, turns]);
    expect(done).toEqual(['a', 'b', 'c'].flatMap((name) => [name, `after ${name}`, 'turn']));
  });
});
