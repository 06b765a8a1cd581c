const MAX_LINES = 500;

/** The last lines of a log. */
export class LogRing {
  private readonly lines: string[] = [];

  add(line: string): void {
    this.lines.push(line);
    if (this.lines.length > MAX_LINES) this.lines.shift();
  }

  all(): readonly string[] {
    return [...this.lines];
  }
}
