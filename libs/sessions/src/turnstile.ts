/** Lets so many pieces of work through at the same time; the others wait in line. */
export class Turnstile {
  private inside = 0;
  private readonly line: (() => void)[] = [];

  constructor(private readonly places: number) {}

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.inside < this.places) this.inside++;
    else await new Promise<void>((resolve) => this.line.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.line.shift();
      if (next) next();
      else this.inside--;
    }
  }
}
