/** Number of ids to remember; a server that repeats an answer does so soon. */
const REMEMBERED = 4_096;
/** Tolerated answers to requests that were never sent. */
const MAX_STRAYS = 64;

/** For a stream that all calls share: which requests were answered, and which were abandoned before. */
export class IdHistory {
  private readonly answered = new RecentIds();
  private readonly givenUp = new RecentIds();
  private strays = 0;

  noteAnswered(id: number): void {
    this.answered.add(id);
  }

  noteGivenUp(id: number): void {
    this.givenUp.add(id);
  }

  /** Why the session has to end after an answer that no request waits for; undefined when it can continue. */
  objectionTo(id: number): string | undefined {
    if (this.answered.has(id)) return 'it answered a request twice';
    if (this.givenUp.has(id)) {
      // A late answer to an abandoned request is accepted once.
      this.answered.add(id);
      return undefined;
    }
    this.strays += 1;
    return this.strays > MAX_STRAYS ? 'it answers requests that were not sent' : undefined;
  }
}

class RecentIds {
  /** Allocated on first use: most sessions are idle. */
  private ids: Float64Array | undefined;
  private next = 0;

  add(id: number): void {
    this.ids ??= new Float64Array(REMEMBERED);
    this.ids[this.next] = id;
    this.next = (this.next + 1) % REMEMBERED;
  }

  has(id: number): boolean {
    return this.ids?.includes(id) === true;
  }
}
