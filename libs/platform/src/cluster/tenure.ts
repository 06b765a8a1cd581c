/** The time for which this process leads: what may run only meanwhile ends with it. */
export interface Tenure {
  /** By the clock: true on the first instruction after the process stood still, when `ended` is not aborted yet. */
  readonly isOver: boolean;
  readonly ended: AbortSignal;
}

export class RunningTenure implements Tenure {
  private readonly controller = new AbortController();
  readonly ended = this.controller.signal;

  constructor(
    /** Of the lease. */
    readonly term: string,
    private readonly hasLost: () => boolean,
  ) {}

  get isOver(): boolean {
    return this.ended.aborted || this.hasLost();
  }

  end(): void {
    this.controller.abort(new Error('this replica leads no longer'));
  }
}
