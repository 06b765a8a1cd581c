import fc from 'fast-check';
import { addPacked, bucketOf, newLatency, packLatency, percentileMs } from './latency.js';

describe('latencies', () => {
  it('are less than 26 % off, from a tenth of a millisecond to three minutes', () => {
    fc.assert(
      fc.property(fc.double({ min: 0.2, max: 150_000, noNaN: true }), (ms) => {
        const latency = newLatency();
        latency[bucketOf(ms)] = 1_000;
        const half = percentileMs(latency, 0.5) ?? 0;
        expect(Math.abs(half - ms)).toBeLessThanOrEqual(0.26 * ms + 0.1);
      }),
    );
  });

  it('have no percentile without calls', () => {
    expect(percentileMs(newLatency(), 0.99)).toBeNull();
  });

  it('rise with the share of calls', () => {
    const latency = newLatency();
    for (const ms of [1, 1, 1, 1, 1, 1, 1, 1, 1, 1_000]) {
      const bucket = bucketOf(ms);
      latency[bucket] = (latency[bucket] ?? 0) + 1;
    }
    expect(percentileMs(latency, 0.5)).toBeLessThan(2);
    expect(percentileMs(latency, 0.99)).toBeGreaterThan(700);
  });

  it.each([0, -1, Number.NaN, Infinity])('put %d into a bucket', (ms) => {
    expect(newLatency()[bucketOf(ms)]).toBe(0);
  });

  it('are packed into one byte a character, and added up from there', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat(63), fc.integer({ min: 1, max: 2 ** 31 })), { maxLength: 20 }),
        (entries) => {
          const latency = newLatency();
          for (const [bucket, count] of entries) latency[bucket] = count;
          const packed = packLatency(latency);
          expect(Array.from(packed).every((char) => char.charCodeAt(0) < 256)).toBe(true);
          const read = newLatency();
          addPacked(read, packed);
          expect(read).toEqual(latency);
        },
      ),
    );
  });
});
