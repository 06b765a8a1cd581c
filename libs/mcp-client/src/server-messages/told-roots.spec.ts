import { jest } from '@jest/globals';
import { setImmediate } from 'node:timers/promises';
import { ToldRoots } from './told-roots.js';

const ROOTS = { roots: [{ uri: 'file:///ada' }] };
const NONE = { roots: [] };

describe(ToldRoots.name, () => {
  let announced: number;
  let givenUp: string[];
  let answerPing: () => void;
  let failPing: (error: Error) => void;
  let roots: ToldRoots;

  beforeEach(() => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'queueMicrotask', 'nextTick'] });
    announced = 0;
    givenUp = [];
    roots = new ToldRoots(
      () => announced++,
      () =>
        new Promise<void>((resolve, reject) => {
          answerPing = resolve;
          failPing = reject;
        }),
      (reason) => givenUp.push(reason),
    );
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  it('admits every user while the server was told no roots', () => {
    expect(roots.admit('ada')).toBeUndefined();
    expect([roots.told(NONE, 'ada'), roots.told({ roots: 'x' }, 'ada')]).toEqual([false, false]);
    expect(roots.told({}, 'ada')).toBe(false);
    expect(roots.admit('bob')).toBeUndefined();
    expect(announced).toBe(0);
  });

  it('admits the owner of the roots at once, and others after the server asked again', async () => {
    expect(roots.told(ROOTS, 'ada')).toBe(true);
    expect(roots.admit('ada')).toBeUndefined();
    expect(roots.isClearing).toBe(false);
    const admitted: string[] = [];
    void roots.admit('bob')?.then(() => admitted.push('bob'));
    void roots.admit('ada')?.then(() => admitted.push('ada'));
    expect([announced, roots.isClearing]).toEqual([1, true]);
    roots.cleared(NONE);
    await setImmediate();
    expect(admitted).toEqual([]);
    answerPing();
    await setImmediate();
    expect(admitted).toEqual(['bob', 'ada']);
    expect([roots.isClearing, roots.admit('cid')]).toEqual([false, undefined]);
    expect([givenUp, jest.getTimerCount()]).toEqual([[], 0]);
  });

  it('also takes an error for an answer to the ping', async () => {
    roots.told(ROOTS, 'ada');
    const admitted = roots.admit('bob');
    roots.cleared(NONE);
    failPing(new Error('no ping'));
    await expect(admitted).resolves.toBeUndefined();
  });

  it('is not satisfied by an answer that still has roots', async () => {
    roots.told(ROOTS, 'ada');
    void roots.admit('bob');
    answerPing = () => {
      throw new Error('no ping was sent');
    };
    roots.cleared(ROOTS);
    expect(answerPing).toThrow('no ping was sent');
    expect(roots.isClearing).toBe(true);
  });

  it('sends no ping when nothing has to be withdrawn', () => {
    answerPing = () => {
      throw new Error('no ping was sent');
    };
    roots.cleared(NONE);
    expect(answerPing).toThrow('no ping was sent');
  });

  it('gives the session up when the server does not ask again', async () => {
    roots.told(ROOTS, 'ada');
    const admitted = roots.admit('bob');
    jest.advanceTimersByTime(2_999);
    expect(givenUp).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(givenUp).toEqual(['it keeps the roots of another user']);
    await expect(admitted).resolves.toBeUndefined();
    expect(roots.isClearing).toBe(false);
  });

  it('does not take a late ping for the answer of a later withdrawal', async () => {
    roots.told(ROOTS, 'ada');
    void roots.admit('bob');
    roots.cleared(NONE);
    const late = answerPing;
    jest.advanceTimersByTime(3_000);
    roots.told(ROOTS, 'bob');
    void roots.admit('cid');
    late();
    await setImmediate();
    expect(roots.isClearing).toBe(true);
  });
});
