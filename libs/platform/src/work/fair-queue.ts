/** A principal may hold this many times the places that others leave free: alone, three quarters of all. */
const TIMES_FREE = 3;
/** Beyond this many principals, only those with waiting or running requests are tracked. */
const MAX_IDLE_LINES = 1_024;

interface Waiting {
  readonly principal?: string | undefined;
  /** Cancelled. */
  readonly isOver: boolean;
}

/** Queue of one principal. */
export class Line<T> {
  waiting: T[] = [];
  held = 0;

  constructor(readonly principal: string | undefined) {}
}

/**
 * Fair queue for `places` concurrent requests. A free place goes to the principal that holds the fewest, and none may
 * hold all of them: hanging calls of one user block that user only. Requests without a principal are internal and not
 * limited.
 */
export class FairQueue<T extends Waiting> {
  private readonly lines = new Map<string | undefined, Line<T>>();
  /** Queues that are not empty. */
  private busy: Line<T>[] = [];
  private held = 0;

  constructor(private readonly places: number) {}

  get isEmpty(): boolean {
    return this.busy.length === 0;
  }

  get waiting(): number {
    return this.busy.reduce((sum, line) => sum + line.waiting.length, 0);
  }

  waitingOf(principal: string | undefined): number {
    return this.lines.get(principal)?.waiting.length ?? 0;
  }

  /** Takes a place at once, if the principal has no waiting request and has not used up its share. */
  hold(principal: string | undefined): Line<T> | undefined {
    const line = this.lines.get(principal) ?? this.newLine(principal);
    if (line.waiting.length > 0 || this.held >= this.places || this.roomFor(line) <= 0) {
      return undefined;
    }
    line.held++;
    this.held++;
    return line;
  }

  /** How many waiting requests could run with unlimited connections. */
  get eligible(): number {
    let all = 0;
    for (const line of this.busy) all += Math.min(line.waiting.length, this.roomFor(line));
    return all;
  }

  add(item: T): void {
    const line = this.lines.get(item.principal) ?? this.newLine(item.principal);
    if (line.waiting.push(item) === 1) this.busy.push(line);
  }

  /** The queue whose turn it is; undefined when each waiting principal holds its share. */
  pick(): Line<T> | undefined {
    let best: Line<T> | undefined;
    for (const line of this.busy) {
      if (this.roomFor(line) > 0 && (!best || line.held < best.held)) best = line;
    }
    return best;
  }

  /** Takes the next request of a queue and counts its place. */
  take(line: Line<T>): T | undefined {
    const item = line.waiting.shift();
    if (line.waiting.length === 0) this.leave(line);
    if (!item) return undefined;
    line.held++;
    this.held++;
    return item;
  }

  release(line: Line<T>): void {
    line.held--;
    this.held--;
  }

  /** Drops cancelled requests. */
  prune(): void {
    for (const line of this.busy) {
      if (line.waiting.some(isOver)) line.waiting = line.waiting.filter((item) => !isOver(item));
    }
    if (this.busy.some(isEmpty)) this.busy = this.busy.filter((line) => !isEmpty(line));
  }

  /** Removes and returns all waiting requests. */
  drain(): T[] {
    return this.busy.splice(0).flatMap(({ waiting }) => waiting.splice(0));
  }

  private leave(line: Line<T>): void {
    const place = this.busy.indexOf(line);
    if (place >= 0) this.busy.splice(place, 1);
  }

  private newLine(principal: string | undefined): Line<T> {
    if (this.lines.size >= MAX_IDLE_LINES) {
      for (const [name, { held, waiting }] of this.lines) {
        if (held === 0 && waiting.length === 0) this.lines.delete(name);
      }
    }
    const line = new Line<T>(principal);
    this.lines.set(principal, line);
    return line;
  }

  private roomFor({ principal, held }: Line<T>): number {
    if (principal === undefined) return Infinity;
    const left = this.places - (this.held - held);
    const most = Math.max(Math.min(1, left), Math.floor((left * TIMES_FREE) / (TIMES_FREE + 1)));
    return Math.max(0, most - held);
  }
}

function isOver(item: Waiting): boolean {
  return item.isOver;
}

function isEmpty({ waiting }: Line<unknown>): boolean {
  return waiting.length === 0;
}
