import { type Clock, Coalescer, Signal } from '@app/platform';
import type { ServerChange } from '@app/mcp-server';

export type ListChange = Extract<ServerChange, { kind: 'tools' | 'prompts' | 'resources' }>;

const LIMITS = { firstMs: 100, maxMs: 2_000, maxKeys: 3 };

/**
 * Notifies the clients of a surface that a list changed. The change is computed once, not per client; during a burst
 * of changes each client is notified at growing intervals.
 */
export class ListChangeNotices {
  private readonly changed = new Signal<ListChange>('list changes');
  private readonly coalescer: Coalescer;

  constructor(clock: Pick<Clock, 'sleep'>) {
    this.coalescer = new Coalescer(clock, LIMITS);
  }

  /** True without listeners: the surface can skip computing the change. */
  get isUnheard(): boolean {
    return !this.changed.isHeard;
  }

  watch(listener: (change: ListChange) => void): () => void {
    return this.changed.hear(listener);
  }

  tell(kind: ListChange['kind']): void {
    this.coalescer.run(kind, () => void this.changed.tell({ kind }));
  }
}
