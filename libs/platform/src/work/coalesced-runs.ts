/**
 * At most one run and one queued run per key. A request made during a run is answered by the queued one, which sees
 * every change made before it starts.
 */
export class CoalescedRuns {
  private readonly lanes = new Map<string, Lane>();

  run(key: string, work: () => Promise<void>): Promise<void> {
    const lane = this.lanes.get(key);
    if (!lane) return this.start(key, work);
    lane.next ??= lane.current.catch(() => undefined).then(() => this.start(key, work));
    return lane.next;
  }

  private start(key: string, work: () => Promise<void>): Promise<void> {
    const lane: Lane = { current: work(), next: undefined };
    this.lanes.set(key, lane);
    const forget = (): void => {
      if (this.lanes.get(key) === lane && !lane.next) this.lanes.delete(key);
    };
    lane.current.then(forget, forget);
    return lane.current;
  }
}

interface Lane {
  readonly current: Promise<void>;
  next: Promise<void> | undefined;
}
