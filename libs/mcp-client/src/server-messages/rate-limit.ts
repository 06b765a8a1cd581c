/** A limit per second, counted in whole seconds; the excess is dropped. */
export class RateLimit {
  private second = -1;
  private used = 0;

  constructor(private readonly perSecond: number) {}

  allows(nowMs: number): boolean {
    const second = Math.floor(nowMs / 1000);
    if (second !== this.second) {
      this.second = second;
      this.used = 0;
    }
    return ++this.used <= this.perSecond;
  }
}
