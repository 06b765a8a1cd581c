import fc from 'fast-check';
import { failuresAfterLoss, nextWaitMs, waitAfterRefusalMs } from './reconnect-policy.js';

describe('the backoff between attempts', () => {
  it('is 1, 2, 4, 8, 16 s, then the health interval, doubling up to 5 minutes', () => {
    const waits = Array.from({ length: 12 }, (_, i) => nextWaitMs(i + 1, 30, 0.5) / 1_000);
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 60, 120, 240, 300, 300, 300]);
  });

  it('has a jitter of at most 20 %, never exceeds 6 minutes, and never ends', () => {
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

  it('is long after refused credentials', () => {
    expect(waitAfterRefusalMs(0)).toBe(240_000);
    expect(waitAfterRefusalMs(1)).toBe(360_000);
  });

  it('starts over after a session that lived one minute', () => {
    expect(failuresAfterLoss(7, 59_999)).toBe(8);
    expect(failuresAfterLoss(7, 60_000)).toBe(1);
  });
});
