/** Scales to length 1 in place; undefined for zero vectors, NaN and infinities. */
export function normalise(vector: Float32Array): Float32Array | undefined {
  let square = 0;
  for (const value of vector) square += value * value;
  if (!Number.isFinite(square) || square === 0) return undefined;
  const factor = 1 / Math.sqrt(square);
  for (let i = 0; i < vector.length; i++) vector[i] = (vector[i] ?? 0) * factor;
  return vector;
}

/** The cosine of unit vectors. */
export function dot(a: Float32Array, b: Float32Array): number {
  let total = 0;
  for (let i = 0; i < a.length; i++) total += (a[i] ?? 0) * (b[i] ?? 0);
  return total;
}

/** The weighted sum, scaled to length 1; undefined if it is zero or there are no vectors. */
export function blend(
  parts: readonly (readonly [Float32Array | undefined, number])[],
): Float32Array | undefined {
  const known = parts.flatMap(([vector, weight]) => (vector ? [{ vector, weight }] : []));
  const total = new Float32Array(known[0]?.vector.length ?? 0);
  for (const { vector, weight } of known) {
    for (let i = 0; i < total.length; i++) total[i] = (total[i] ?? 0) + weight * (vector[i] ?? 0);
  }
  return normalise(total);
}

/** As it is stored: 32-bit floats, little-endian. */
export function bytesOf(vector: Float32Array): Buffer {
  return Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength);
}

/** A copy, because a Float32Array must start at a multiple of four bytes. */
export function vectorIn(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer);
}
