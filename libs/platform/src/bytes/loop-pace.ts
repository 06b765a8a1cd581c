/** Time per turn of the event loop for messages, before other work runs. */
const MAX_MS_PER_TURN = 2;

/**
 * Spreads reading and writing of large messages over turns of the event loop. Work that arrives when the time of a turn
 * is used up is queued for the next one, first in, first out.
 */
export class LoopPace {
  private spentMs = 0;
  private readonly waiting: (() => void)[] = [];
  private isTurnAhead = false;

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** True when the time of this turn is used up: further work goes to `later`. */
  get isOver(): boolean {
    return this.spentMs >= MAX_MS_PER_TURN;
  }

  /** Returns the time it took. Work may run other work: its time counts once. */
  run(work: () => void): number {
    const startedAt = this.now();
    const spentMs = this.spentMs;
    work();
    const ms = this.now() - startedAt;
    this.spentMs = spentMs + ms;
    if (this.isOver) this.awaitTurn();
    return ms;
  }

  later(work: () => void): void {
    this.waiting.push(work);
    this.awaitTurn();
  }

  private awaitTurn(): void {
    if (this.isTurnAhead) return;
    this.isTurnAhead = true;
    setImmediate(() => this.turn());
  }

  private turn(): void {
    this.isTurnAhead = false;
    this.spentMs = 0;
    while (!this.isOver) {
      const work = this.waiting.shift();
      if (!work) return;
      this.run(work);
    }
  }
}

/** Shared by all servers and clients, because they share one event loop. */
export const loopPace = new LoopPace();

const heavy: (() => void)[] = [];

/**
 * Runs one such work in each turn of the event loop: the code that it resumes runs for tens of milliseconds, which a pace
 * cannot measure.
 */
export function inOwnTurn(work: () => void): void {
  if (heavy.push(work) === 1) setImmediate(runHeavy);
}

function runHeavy(): void {
  try {
    heavy[0]?.();
  } finally {
    heavy.shift();
    if (heavy.length > 0) setImmediate(runHeavy);
  }
}

/** From this size on, the steps of handling a message have turns of their own. */
export const HEAVY_BYTES = 2_000_000;
