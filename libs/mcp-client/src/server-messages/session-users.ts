/** Abandoned calls to remember one by one; a server with more of them does not answer anyway. */
const MAX_LEFT_BEHIND = 4_096;

interface LeftBehind {
  readonly principal: string;
  /** On the clock of `performance.now()`. */
  readonly until: number;
}

/** Which principals a session works for: decides whether a message outside of any exchange can be attributed to one. */
export class SessionUsers {
  private first: string | undefined;
  private isShared = false;
  /** Abandoned calls that the server may still work on, by request id. */
  private readonly leftBehind = new Map<number, LeftBehind>();
  /** Until when the server may work on abandoned calls that were too many to be remembered. */
  private unknownUntil = 0;

  /** The only principal that has used the session; null when several have, undefined when none has. */
  get only(): string | null | undefined {
    return this.isShared ? null : this.first;
  }

  note(principal: string): void {
    if (this.first === undefined) this.first = principal;
    else if (this.first !== principal) this.isShared = true;
  }

  /** A call was abandoned before the server answered it. */
  leaveBehind(id: number, principal: string, couldLastMs: number): void {
    const until = performance.now() + couldLastMs;
    if (this.leftBehind.size >= MAX_LEFT_BEHIND) this.forgetOld();
    if (this.leftBehind.size < MAX_LEFT_BEHIND) this.leftBehind.set(id, { principal, until });
    else this.unknownUntil = Math.max(this.unknownUntil, until);
  }

  /** The server has answered an abandoned call. */
  noteAnswered(id: number): void {
    this.leftBehind.delete(id);
  }

  /** Whether the server may still work on an abandoned call of another principal. */
  hasLeftOver(principal: string): boolean {
    this.forgetOld();
    if (performance.now() < this.unknownUntil) return true;
    for (const { principal: other } of this.leftBehind.values()) {
      if (other !== principal) return true;
    }
    return false;
  }

  private forgetOld(): void {
    const now = performance.now();
    for (const [id, { until }] of this.leftBehind) if (until <= now) this.leftBehind.delete(id);
  }
}
