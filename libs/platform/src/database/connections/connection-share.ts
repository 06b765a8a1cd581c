import { DatabaseUnavailable } from '../failures/database.errors.js';

export interface Work {
  /** The table that it begins with, if there is one. */
  readonly table: string | undefined;
  readonly isTransaction: boolean;
}

interface Waiter {
  readonly work: Work;
  readonly order: number;
  enter(): void;
}

/**
 * The connections of one kind of work. Work that begins with the same table gets less than half of them, as do
 * transactions: while a table is locked, at least one connection is left for work on other tables.
 */
export class ConnectionShare {
  private readonly most: number;
  private readonly used = new Map<string, number>();
  /** Waiting work in order of arrival, by table. */
  private readonly lines = new Map<string, Waiter[]>();
  private inUse = 0;
  private arrivals = 0;

  constructor(private readonly connections: number) {
    this.most = Math.max(1, Math.floor((connections - 1) / 2));
  }

  /** Resolves with a function that returns the connection; rejects with DatabaseUnavailable after `waitMs`. */
  enter(work: Work, waitMs: number): Promise<() => void> {
    if (this.mayEnter(work)) return Promise.resolve(this.take(work));
    return new Promise((resolve, reject) => {
      const line = this.lineOf(work);
      const timer = setTimeout(() => {
        line.splice(line.indexOf(waiter), 1);
        reject(new DatabaseUnavailable(this.inUse < this.connections ? 'slow' : 'busy'));
      }, waitMs).unref();
      const enter = (): void => {
        clearTimeout(timer);
        resolve(this.take(work));
      };
      const waiter: Waiter = { work, order: this.arrivals++, enter };
      line.push(waiter);
    });
  }

  private mayEnter(work: Work): boolean {
    return (
      this.inUse < this.connections && limitsOf(work).every((key) => this.count(key) < this.most)
    );
  }

  private take(work: Work): () => void {
    this.change(work, 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      this.change(work, -1);
      this.admitNext();
    };
  }

  private change(work: Work, by: 1 | -1): void {
    this.inUse += by;
    for (const key of limitsOf(work)) this.used.set(key, this.count(key) + by);
  }

  private admitNext(): void {
    const heads = [...this.lines.values()].flatMap(([first]) => first ?? []);
    const next = heads
      .filter(({ work }) => this.mayEnter(work))
      .reduce<Waiter | undefined>(
        (first, other) => (first && first.order < other.order ? first : other),
        undefined,
      );
    if (!next) return;
    this.lineOf(next.work).shift();
    next.enter();
  }

  private lineOf(work: Work): Waiter[] {
    const key = limitsOf(work).join(' ');
    const known = this.lines.get(key);
    if (known) return known;
    const line: Waiter[] = [];
    this.lines.set(key, line);
    return line;
  }

  private count(key: string): number {
    return this.used.get(key) ?? 0;
  }
}

function limitsOf({ table, isTransaction }: Work): string[] {
  return [...(table === undefined ? [] : [`table ${table}`]), ...(isTransaction ? ['write'] : [])];
}
