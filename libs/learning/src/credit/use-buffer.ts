import { type LearntTool, type CallerUses } from '../rows/tool-use.store.js';
import { together, type Uses } from '../rows/uses.js';

/** Tools with new uses, all together and of one caller; further ones are not learnt from. 1.2 kB each. */
const MAX_WAITING = 4_000;
const MAX_OF_CALLER = 400;

export interface NewUse extends LearntTool {
  readonly caller: string;
  /** Of the query. */
  readonly vector: Float32Array;
}

/** Uses that are not stored yet, summed up by tool, view and caller. */
export class UseBuffer {
  private waiting = new Map<string, CallerUses>();
  private ofCaller = new Map<string, number>();

  get isEmpty(): boolean {
    return this.waiting.size === 0;
  }

  add({ vector, ...use }: NewUse): void {
    this.merge({ ...use, uses: { count: 1, mean: vector } });
  }

  take(): readonly CallerUses[] {
    const all = [...this.waiting.values()];
    this.waiting = new Map();
    this.ofCaller = new Map();
    return all;
  }

  /** What could not be stored, if there is room beside what came since. */
  putBack(all: readonly CallerUses[]): void {
    for (const one of all) this.merge(one);
  }

  forgetTool(toolId: number): void {
    for (const [key, one] of this.waiting) if (one.toolId === toolId) this.waiting.delete(key);
  }

  private merge(one: CallerUses): void {
    const key = `${one.viewId} ${one.toolId} ${one.caller}`;
    const known = this.waiting.get(key);
    if (!known) {
      const share = this.ofCaller.get(one.caller) ?? 0;
      if (this.waiting.size >= MAX_WAITING || share >= MAX_OF_CALLER) return;
      this.ofCaller.set(one.caller, share + 1);
    }
    const uses: Uses = known ? together([known.uses, one.uses]) : one.uses;
    this.waiting.set(key, { ...one, uses });
  }
}
