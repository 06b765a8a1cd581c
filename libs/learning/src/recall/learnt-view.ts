import { blend, VectorMemory } from '@app/vectors';
import { liftOf, trustIn, type Uses } from '../rows/uses.js';

/** How near a tool is to a query by its text, and how much nearer by its uses; cosines of the static model. */
export interface Lift {
  readonly toolId: number;
  readonly own: number;
  readonly lift: number;
}

interface Learnt {
  readonly toolId: number;
  readonly trust: number;
}

/**
 * What was learnt in one view. The vector of a tool's text and the mean of its uses lie beside each other, so that one
 * pass compares a query with both.
 */
export class LearntView {
  private readonly memory: VectorMemory;
  private readonly tools: Learnt[] = [];
  private readonly slotOf = new Map<number, number>();

  constructor(private readonly dimensions: number) {
    this.memory = new VectorMemory(dimensions);
  }

  get size(): number {
    return this.tools.length;
  }

  has(toolId: number): boolean {
    return this.slotOf.has(toolId);
  }

  toolIds(): Iterable<number> {
    return this.slotOf.keys();
  }

  set(toolId: number, { count, mean }: Uses, own: Float32Array): void {
    const direction = blend([[mean, 1]]);
    if (direction?.length !== this.dimensions) return;
    const slot = this.slotOf.get(toolId) ?? this.tools.length;
    this.tools[slot] = { toolId, trust: trustIn(count) };
    this.slotOf.set(toolId, slot);
    this.memory.set(2 * slot, own);
    this.memory.set(2 * slot + 1, direction);
  }

  /** The text of the tool has changed. */
  describe(toolId: number, own: Float32Array): void {
    const slot = this.slotOf.get(toolId);
    if (slot !== undefined) this.memory.set(2 * slot, own);
  }

  remove(toolId: number): void {
    const slot = this.slotOf.get(toolId);
    const last = this.tools.pop();
    if (slot === undefined || !last) {
      if (last) this.tools.push(last);
      return;
    }
    this.slotOf.delete(toolId);
    if (last.toolId === toolId) return;
    const from = this.tools.length;
    this.memory.move(2 * from, 2 * slot);
    this.memory.move(2 * from + 1, 2 * slot + 1);
    this.tools[slot] = last;
    this.slotOf.set(last.toolId, slot);
  }

  /** The tools that their uses bring nearer to a query, in no order. */
  lifts(query: Float32Array): readonly Lift[] {
    const lifted: Lift[] = [];
    // The vectors of a tool are in one block, because blocks have even sizes.
    this.memory.compare([query], 2 * this.tools.length, (_, first, scores) => {
      for (let i = 0; i < scores.length; i += 2) {
        const tool = this.tools[(first + i) >> 1];
        const own = scores[i] ?? 0;
        const lift = tool ? liftOf(own, scores[i + 1] ?? 0, tool.trust) : 0;
        if (tool && lift > 0) lifted.push({ toolId: tool.toolId, own, lift });
      }
    });
    return lifted;
  }
}
