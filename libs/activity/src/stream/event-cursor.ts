/** More replicas than a cluster has; ids come from clients. */
const MAX_REPLICAS = 64;
const POSITION = /^([0-9a-f]{8})-(\d{1,15})$/;

/**
 * How far a client has read the events of each replica; the id of an event on the stream (`Last-Event-ID`). Positions
 * joined by dots: `3f2a9c1b-1024.77ab12cd-55`.
 */
export class EventCursor {
  private readonly positions: Map<string, number>;

  constructor(positions: Iterable<readonly [string, number]> = []) {
    this.positions = new Map(positions);
  }

  /** Undefined for text that is not a cursor. */
  static read(text: string): EventCursor | undefined {
    const parts = text.split('.', MAX_REPLICAS + 1);
    if (parts.length > MAX_REPLICAS) return undefined;
    const positions: [string, number][] = [];
    for (const part of parts) {
      const [, replica, seq] = POSITION.exec(part) ?? [];
      if (replica === undefined || seq === undefined) return undefined;
      positions.push([replica, Number(seq)]);
    }
    return new EventCursor(positions);
  }

  get replicas(): readonly string[] {
    return [...this.positions.keys()];
  }

  of(replica: string): number | undefined {
    return this.positions.get(replica);
  }

  /** Positions never go back. */
  advance(replica: string, seq: number): void {
    const known = this.positions.get(replica);
    if (known === undefined || known < seq) this.positions.set(replica, seq);
    if (this.positions.size > MAX_REPLICAS) this.forgetFirst();
  }

  forget(replica: string): void {
    this.positions.delete(replica);
  }

  toString(): string {
    return [...this.positions].map(([replica, seq]) => `${replica}-${seq}`).join('.');
  }

  private forgetFirst(): void {
    for (const replica of this.positions.keys()) {
      this.positions.delete(replica);
      return;
    }
  }
}
