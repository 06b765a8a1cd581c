/** How long a call waits for a session of its server, initialising a lost one again included (contract R41). */
export const SESSION_WITHIN_MS = 5_000;

/** What is left of the wait of one call, over all its attempts. */
export class SessionWait {
  leftMs = SESSION_WITHIN_MS;

  within(ms: number): number {
    return Math.max(0, Math.min(this.leftMs, ms));
  }

  spend(ms: number): void {
    this.leftMs = Math.max(0, this.leftMs - ms);
  }

  async during<T>(work: Promise<T>): Promise<T> {
    const startedAt = performance.now();
    try {
      return await work;
    } finally {
      this.spend(performance.now() - startedAt);
    }
  }
}
