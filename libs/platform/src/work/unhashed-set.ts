/**
 * Ordered members that are added and removed with every request. Not a Set: one that gains and loses a member per
 * request is rehashed all the time, and the old tables, each linked to its successor, keep their members alive until a
 * full garbage collection (docs/decisions/0700).
 */
export class UnhashedSet<T> implements Iterable<T> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: T): void {
    this.members.push(member);
  }

  /** Returns whether it was a member. */
  remove(member: T): boolean {
    const place = this.members.indexOf(member);
    if (place < 0) return false;
    // Not splice, which allocates an array of the removed members.
    for (let next = place + 1; next < this.members.length; next++) {
      this.members[next - 1] = this.members[next] as T;
    }
    this.members.pop();
    return true;
  }

  /** A snapshot: includes members that are removed during the iteration. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.members][Symbol.iterator]();
  }
}
