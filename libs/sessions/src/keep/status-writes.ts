import type { StatusChange, StatusSignal } from '@app/registry';

type Write = (signal: StatusSignal, change?: StatusChange) => Promise<void>;

/** The status changes of one server, written one after the other so that they reach the row in order. */
export class StatusWrites {
  private last: Promise<void> = Promise.resolve();
  private requested = 0;
  private written = 0;

  /** `write` never rejects. */
  constructor(private readonly write: Write) {}

  /** Number of changes requested so far. */
  get count(): number {
    return this.requested;
  }

  get areDone(): boolean {
    return this.written === this.requested;
  }

  /** Resolves when all changes requested so far are written. */
  get done(): Promise<void> {
    return this.last;
  }

  add(signal: StatusSignal, change?: StatusChange): Promise<void> {
    this.requested++;
    this.last = this.last.then(async () => {
      await this.write(signal, change);
      this.written++;
    });
    return this.last;
  }
}
