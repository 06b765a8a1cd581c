import { bytesOf, vectorIn } from './vector-math.js';

describe('a vector in bytes', () => {
  it('is the same when it is read, wherever it starts', () => {
    const vectors = Float32Array.from([0, 1, -0.5, 0.25, 3]);
    const part = vectors.subarray(1, 4);
    const stored = Buffer.concat([Buffer.from([7]), bytesOf(part)]);
    expect([...vectorIn(stored.subarray(1))]).toEqual([1, -0.5, 0.25]);
  });

  it('is copied when it is read', () => {
    const bytes = bytesOf(Float32Array.from([1, 2]));
    const read = vectorIn(bytes);
    bytes.fill(0);
    expect([...read]).toEqual([1, 2]);
  });
});
