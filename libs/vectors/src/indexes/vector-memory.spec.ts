import { readFileSync } from 'node:fs';
import { assemble } from '../../scan/build.mjs';
import { VectorMemory } from './vector-memory.js';

describe(VectorMemory, () => {
  const random = (length: number): Float32Array =>
    Float32Array.from({ length }, () => Math.random() - 0.5);

  it.each([1, 3, 16, 255, 256, 384])('compares vectors of %i numbers', (dimensions) => {
    const memory = new VectorMemory(dimensions);
    const vectors = Array.from({ length: 1_300 }, () => random(dimensions));
    vectors.forEach((vector, slot) => memory.set(slot, vector));
    const queries = [random(dimensions), random(dimensions)];
    let seen = 0;
    memory.compare(queries, vectors.length, (query, first, scores) => {
      seen += scores.length;
      scores.forEach((score, i) => {
        const expected = vectors[first + i]?.reduce(
          (sum, x, at) => sum + x * (queries[query]?.[at] ?? 0),
          0,
        );
        expect(Math.abs(score - (expected ?? NaN))).toBeLessThan(1e-4);
      });
    });
    expect(seen).toBe(2 * vectors.length);
  });

  it('keeps other vectors when one is moved', () => {
    const memory = new VectorMemory(2);
    memory.set(0, Float32Array.of(1, 0));
    memory.set(1, Float32Array.of(0, 1));
    memory.move(1, 0);
    const found: number[] = [];
    memory.compare([Float32Array.of(0, 1)], 2, (_query, _first, scores) => found.push(...scores));
    expect(found).toEqual([1, 1]);
  });

  it('has a scan.wasm that equals the assembled scan.wat', async () => {
    const committed = readFileSync(new URL('../../scan/scan.wasm', import.meta.url));
    expect(Buffer.from(await assemble())).toEqual(committed);
  });
});
