import fc from 'fast-check';
import {
  failuresAfterLoss,
  nextWaitMs,
  waitAfterRefusalMs,
  wakePauseMs,
} from './reconnect-policy.js';

describe('the waits between attempts', () => {
  it('are 1, 2, 4, 8, 16 s, then the health interval, doubling up to 5 minutes', () => {
    const waits = Array.from({ length: 12 }, (_, i) => nextWaitMs(i + 1, 30, 0.5) / 1_000);
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 60, 120, 240, 300, 300, 300]);
  });

  it('differ by at most 20 %, never exceed 6 minutes, and never end', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.double({ min: 1, max: 86_400, noNaN: true }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (failures, interval, random) => {
          const exact = nextWaitMs(failures, interval, 0.5);
          const wait = nextWaitMs(failures, interval, random);
          expect(Math.abs(wait - exact)).toBeLessThanOrEqual(0.2 * exact + 1);
          expect(wait).toBeGreaterThanOrEqual(800);
          expect(wait).toBeLessThanOrEqual(360_000);
        },
      ),
    );
  });

  it('after refused credentials are long', () => {
    expect(waitAfterRefusalMs(0)).toBe(240_000);
    expect(waitAfterRefusalMs(1)).toBe(360_000);
  });

  it('for calls are at most 5 s', () => {
    expect([0, 1, 3, 5, 100].map((failures) => wakePauseMs(failures))).toEqual([
      1_000, 1_000, 3_000, 5_000, 5_000,
    ]);
  });

  it('begin anew after a healthy minute', () => {
    expect(failuresAfterLoss(7, 59_999)).toBe(8);
    expect(failuresAfterLoss(7, 60_000)).toBe(1);
  });
});
