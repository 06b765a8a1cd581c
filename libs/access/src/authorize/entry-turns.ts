/**
 * Requests of one principal that begin in a turn. Fewer delay others less, more share the system calls of a turn:
 * docs/decisions/0431.
 */
const PER_TURN = 8;
/** A principal that sent nothing for this long does not slow down others. */
const ACTIVE_MS = 10_000;

/** Requests of one principal. */
class Line {
  private begun = 1;
  private readonly waiting: (() => void)[] = [];

  enter(): Promise<void> | undefined {
    if (this.begun < PER_TURN) {
      this.begun++;
      return undefined;
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  /** Lets those begin that waited. False when there are none. */
  beginTurn(): boolean {
    const ready = this.waiting.splice(0, PER_TURN);
    this.begun = ready.length;
    for (const begin of ready) begin();
    return ready.length > 0;
  }
}

/**
 * Lets a few requests of each principal begin in a turn of the event loop: those that one sends on many connections at
 * once would otherwise all run between two steps of another's call. A principal that is alone is not limited.
 */
export class EntryTurns {
  /** Of the principals that have begun a request in this turn of the event loop. */
  private readonly lines = new Map<string, Line>();
  private last: string | undefined;
  private changedAt = -Infinity;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** Undefined when the request may begin at once. */
  enter(principal: string): Promise<void> | undefined {
    if (this.isAlone(principal)) return undefined;
    const line = this.lines.get(principal);
    if (line) return line.enter();
    if (this.lines.size === 0) this.awaitTurn();
    this.lines.set(principal, new Line());
    return undefined;
  }

  private isAlone(principal: string): boolean {
    const now = this.now();
    if (principal !== this.last) {
      if (this.last !== undefined) this.changedAt = now;
      this.last = principal;
    }
    return now - this.changedAt > ACTIVE_MS;
  }

  private awaitTurn(): void {
    setImmediate(() => this.turn());
  }

  private turn(): void {
    for (const [principal, line] of this.lines) {
      if (!line.beginTurn()) this.lines.delete(principal);
    }
    if (this.lines.size > 0) this.awaitTurn();
  }
}
