/** Concurrency limit: runs a fixed number of tasks at the same time; the others wait in FIFO order. */
export class ConcurrencyLimit {
  private inside = 0;
  private readonly line: (() => void)[] = [];

  constructor(private readonly places: number) {}

  /** A task whose signal is aborted while it waits starts at once, beyond the limit. */
  async pass<T>(work: () => Promise<T>, hurry?: AbortSignal): Promise<T> {
    if (this.inside < this.places) this.inside++;
    else if (!(await this.hasPlace(hurry))) return work();
    try {
      return await work();
    } finally {
      const next = this.line.shift();
      if (next) next();
      else this.inside--;
    }
  }

  /** Resolves with false when the task must not wait any longer. */
  private hasPlace(hurry: AbortSignal | undefined): Promise<boolean> {
    if (hurry?.aborted) return Promise.resolve(false);
    return new Promise((resolve) => {
      const enter = (): void => {
        hurry?.removeEventListener('abort', leave);
        resolve(true);
      };
      const leave = (): void => {
        this.line.splice(this.line.indexOf(enter), 1);
        resolve(false);
      };
      hurry?.addEventListener('abort', leave, { once: true });
      this.line.push(enter);
    });
  }
}
