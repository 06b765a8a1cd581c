import { growTo, scanModule } from './scan-module.js';

const FLOAT_BYTES = 4;
/** Floats that scan.wat reads per step. */
const STEP_FLOATS = 16;
/** Vectors per block; a block stays in the CPU cache while all queries are compared with it. */
const BLOCK = 512;

/**
 * Vectors in the memory of a small WebAssembly module that compares them with SIMD, nine times as fast as
 * the same loop in JavaScript (docs/decisions/0203).
 * Layout: one query, the scores of a block, then the vectors.
 */
export class VectorMemory {
  private readonly memory: WebAssembly.Memory;
  private readonly scan: ReturnType<typeof scanModule>['scan'];
  /** Floats per vector, padded with zeros. */
  private readonly stride: number;
  private readonly scoresAt: number;
  private readonly vectorsAt: number;
  private floats: Float32Array;

  constructor(dimensions: number) {
    const { memory, scan } = scanModule();
    this.memory = memory;
    this.scan = scan;
    this.stride = Math.ceil(dimensions / STEP_FLOATS) * STEP_FLOATS;
    this.scoresAt = this.stride;
    this.vectorsAt = this.stride + BLOCK;
    this.floats = new Float32Array(memory.buffer);
    this.reserve(0);
  }

  set(slot: number, vector: Float32Array): void {
    this.reserve(slot + 1);
    this.floats.set(vector, this.vectorsAt + slot * this.stride);
  }

  at(slot: number): Float32Array {
    const start = this.vectorsAt + slot * this.stride;
    return this.floats.subarray(start, start + this.stride);
  }

  move(from: number, to: number): void {
    const start = this.vectorsAt + from * this.stride;
    this.floats.copyWithin(this.vectorsAt + to * this.stride, start, start + this.stride);
  }

  /**
   * Compares the first `count` vectors with each query: `visit` gets the scores of vectors that follow each other, which
   * are valid during the call only.
   */
  compare(
    queries: readonly Float32Array[],
    count: number,
    visit: (query: number, firstSlot: number, scores: Float32Array) => void,
  ): void {
    for (let first = 0; first < count; first += BLOCK) {
      const size = Math.min(BLOCK, count - first);
      const scores = this.floats.subarray(this.scoresAt, this.scoresAt + size);
      for (const [query, vector] of queries.entries()) {
        this.floats.set(vector, 0);
        this.scan(
          (this.vectorsAt + first * this.stride) * FLOAT_BYTES,
          0,
          this.scoresAt * FLOAT_BYTES,
          size,
          this.stride * FLOAT_BYTES,
        );
        visit(query, first, scores);
      }
    }
  }

  private reserve(slots: number): void {
    const bytes = (this.vectorsAt + slots * this.stride) * FLOAT_BYTES;
    const held = this.memory.buffer.byteLength;
    if (bytes <= held) return;
    // Grows by at least half, because growing may copy all memory.
    growTo(this.memory, Math.max(bytes, 1.5 * held));
    this.floats = new Float32Array(this.memory.buffer);
  }
}
