import { installedFolder } from '@app/platform';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const PAGE_BYTES = 65_536;
const FLOAT_BYTES = 4;
/** Floats that scan.wat reads per step. */
const STEP_FLOATS = 16;
/** Vectors per block; a block stays in the CPU cache while all queries are compared with it. */
const BLOCK = 512;

type Scan = (vector: number, query: number, score: number, count: number, bytes: number) => void;

let compiled: WebAssembly.Module | undefined;

/**
 * Vectors in the memory of a small WebAssembly module that compares them with SIMD, nine times as fast as
 * the same loop in JavaScript (docs/decisions/0203).
 * Layout: one query, the scores of a block, then the vectors.
 */
export class VectorMemory {
  private readonly memory: WebAssembly.Memory;
  private readonly scan: Scan;
  /** Floats per vector, padded with zeros. */
  private readonly stride: number;
  private readonly scoresAt: number;
  private readonly vectorsAt: number;
  private floats: Float32Array;

  constructor(dimensions: number) {
    compiled ??= new WebAssembly.Module(
      readFileSync(join(installedFolder('libs/vectors/scan', import.meta.url), 'scan.wasm')),
    );
    const { memory, scan } = new WebAssembly.Instance(compiled).exports;
    if (!(memory instanceof WebAssembly.Memory) || typeof scan !== 'function') {
      throw new Error(
        'scan.wasm does not export memory and scan; run node libs/vectors/scan/build.mjs',
      );
    }
    this.memory = memory;
    this.scan = scan as Scan;
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

  move(from: number, to: number): void {
    const start = this.vectorsAt + from * this.stride;
    this.floats.copyWithin(this.vectorsAt + to * this.stride, start, start + this.stride);
  }

  /** Calls `visit` with the score of each of the first `count` vectors for each query. */
  compare(
    queries: readonly Float32Array[],
    count: number,
    visit: (query: number, slot: number, score: number) => void,
  ): void {
    for (let first = 0; first < count; first += BLOCK) {
      const size = Math.min(BLOCK, count - first);
      for (const [query, vector] of queries.entries()) {
        this.floats.set(vector, 0);
        this.scan(
          (this.vectorsAt + first * this.stride) * FLOAT_BYTES,
          0,
          this.scoresAt * FLOAT_BYTES,
          size,
          this.stride * FLOAT_BYTES,
        );
        for (let i = 0; i < size; i++) visit(query, first + i, this.floats[this.scoresAt + i] ?? 0);
      }
    }
  }

  private reserve(slots: number): void {
    const missing =
      (this.vectorsAt + slots * this.stride) * FLOAT_BYTES - this.memory.buffer.byteLength;
    if (missing <= 0) return;
    // Grows by at least half, because growing may copy all memory.
    const pages = Math.ceil(Math.max(missing, this.memory.buffer.byteLength / 2) / PAGE_BYTES);
    this.memory.grow(pages);
    this.floats = new Float32Array(this.memory.buffer);
  }
}
