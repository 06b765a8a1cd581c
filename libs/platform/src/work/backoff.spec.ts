import { backoffMs } from './backoff.js';

describe(backoffMs.name, () => {
  it('doubles the wait with each failure up to the longest one, without end', () => {
    const waits = [1, 2, 3, 4, 5, 100, 5_000].map((failures) =>
      backoffMs(failures, { firstMs: 500, longestMs: 3_000 }),
    );
    expect(waits).toEqual([500, 1_000, 2_000, 3_000, 3_000, 3_000, 3_000]);
  });
});
