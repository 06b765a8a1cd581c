import fc from 'fast-check';
import { LayeredMap } from './layered-map.js';
import { atOnce } from '../work/slices.js';

const key = fc.integer({ min: 0, max: 2_000 });
const changes = fc.array(fc.tuple(key, fc.option(fc.integer(), { nil: undefined })), {
  maxLength: 400,
});

describe(LayeredMap, () => {
  it('is what a map would be after the same changes, and so is every one before it', () => {
    fc.assert(
      fc.property(fc.array(changes, { maxLength: 6 }), (steps) => {
        let layered = LayeredMap.of<number, { value: number }>(new Map());
        const plain = new Map<number, { value: number }>();
        const earlier: [typeof layered, Map<number, { value: number }>][] = [];
        for (const step of steps) {
          const given = new Map(
            step.map(([at, value]) => [at, value === undefined ? undefined : { value }]),
          );
          layered = atOnce(layered.with(given));
          for (const [at, value] of given) {
            if (value) plain.set(at, value);
            else plain.delete(at);
          }
          earlier.push([layered, new Map(plain)]);
        }
        for (const [map, expected] of earlier) {
          expect(map.size).toBe(expected.size);
          expect(new Map(map)).toEqual(expected);
          expect(new Set(map.keys())).toEqual(new Set(expected.keys()));
          for (const [at, value] of expected) expect(map.get(at)).toBe(value);
          expect(map.has(-1)).toBe(false);
        }
      }),
    );
  });
});
