/** Minimum time for which the server may still work on a call that its caller gave up. */
const LEFT_BEHIND_MS = 600_000;

/** Which principals a session works for: decides whether a message outside of any exchange can be attributed to one. */
export class SessionUsers {
  private first: string | undefined;
  private isShared = false;
  /** Principals with abandoned calls that the server may still work on; until when, on the clock of `performance.now()`. */
  private readonly leftBehind = new Map<string, number>();

  /** The only principal that has used the session; null when several have, undefined when none has. */
  get only(): string | null | undefined {
    return this.isShared ? null : this.first;
  }

  note(principal: string): void {
    if (this.first === undefined) this.first = principal;
    else if (this.first !== principal) this.isShared = true;
  }

  /** A call was abandoned before the server answered it. */
  leaveBehind(principal: string, couldLastMs: number): void {
    const until = performance.now() + Math.max(LEFT_BEHIND_MS, couldLastMs);
    this.leftBehind.set(principal, Math.max(until, this.leftBehind.get(principal) ?? 0));
  }

  /** Whether the server may still work on an abandoned call of another principal. */
  hasLeftOver(principal: string): boolean {
    const now = performance.now();
    for (const [other, until] of this.leftBehind) {
      if (until <= now) this.leftBehind.delete(other);
      else if (other !== principal) return true;
    }
    return false;
  }
}
