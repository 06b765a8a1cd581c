import type { Room } from './growing-buffer.js';

/**
 * Limits the bytes that all servers hold together. A server may hold at most as much as remains free for the others:
 * one server gets half, two get a third each, so there is always room for the next one.
 */
export class SharedBudget {
  private used = 0;

  constructor(readonly maxBytes: number) {}

  get held(): number {
    return this.used;
  }

  share(): BudgetShare {
    return new BudgetShare(this);
  }

  /** For shares only. */
  change(bytes: number): void {
    this.used += bytes;
  }
}

/** Bytes held for one server. */
export class BudgetShare implements Room {
  private used = 0;
  private isClosed = false;

  constructor(readonly budget: SharedBudget) {}

  get held(): number {
    return this.used;
  }

  take(bytes: number): boolean {
    const freeThen = this.budget.maxBytes - this.budget.held - bytes;
    if (this.isClosed || this.used + bytes > freeThen) return false;
    this.used += bytes;
    this.budget.change(bytes);
    return true;
  }

  give(bytes: number): void {
    if (this.isClosed) return;
    this.used -= bytes;
    this.budget.change(-bytes);
  }

  /** Releases everything, permanently. */
  close(): void {
    this.give(this.used);
    this.isClosed = true;
  }
}
