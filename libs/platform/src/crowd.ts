/**
 * Things that come and go with every request, in the order they came. Not a Set: one that gains and loses
 * a member with every request grows out of one table into the next all the time, and the old tables, each
 * pointing at its successor, keep everything they held alive until a full garbage collection
 * (docs/decisions/0700).
 */
export class Crowd<T> implements Iterable<T> {
  private readonly members: T[] = [];

  get size(): number {
    return this.members.length;
  }

  add(member: T): void {
    this.members.push(member);
  }

  /** Whether it was there. */
  remove(member: T): boolean {
    const place = this.members.indexOf(member);
    if (place < 0) return false;
    // No splice: it makes an array of what it takes away.
    for (let next = place + 1; next < this.members.length; next++) {
      this.members[next - 1] = this.members[next] as T;
    }
    this.members.pop();
    return true;
  }

  /** As they are now: whoever leaves meanwhile is met all the same. */
  [Symbol.iterator](): Iterator<T> {
    return [...this.members][Symbol.iterator]();
  }
}
