const MAX_LINES = 500;
const MAX_CHARS = 262_144;

/** The last lines of a log. Callers pass flat strings: a slice would keep its whole source text in memory. */
export class LogRing {
  private lines: string[] = [];
  private chars = 0;

  add(line: string): void {
    this.lines.push(line);
    this.chars += line.length;
    let surplus = 0;
    while (this.lines.length - surplus > MAX_LINES || this.chars > MAX_CHARS) {
      this.chars -= this.lines[surplus]?.length ?? 0;
      surplus++;
    }
    if (surplus > 0) this.lines = this.lines.slice(surplus);
  }

  all(): readonly string[] {
    return [...this.lines];
  }
}
