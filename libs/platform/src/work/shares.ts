/** Usage of one budget per principal, so that the largest user is cut first. */
export class Shares {
  private readonly used = new Map<string, number>();
  private sum = 0;

  get total(): number {
    return this.sum;
  }

  of(owner: string): number {
    return this.used.get(owner) ?? 0;
  }

  add(owner: string, amount = 1): void {
    this.used.set(owner, this.of(owner) + amount);
    this.sum += amount;
  }

  remove(owner: string, amount = 1): void {
    const left = this.of(owner) - amount;
    if (left > 0) this.used.set(owner, left);
    else this.used.delete(owner);
    this.sum -= amount;
  }

  /**
   * Whether the owner may take more. Anyone may while the budget has room; when others have used it up, each owner
   * still gets its share, so the sum may exceed the budget for as long as they hold theirs.
   */
  hasRoom(owner: string, budget: number, amount = 1): boolean {
    if (this.sum + amount <= budget) return true;
    const own = this.of(owner);
    const owners = this.used.size + (own === 0 ? 1 : 0);
    return own + amount <= Math.max(1, Math.floor(budget / owners));
  }

  /**
   * Who has to release when the budget is used up and `owner` wants more: the owner itself, unless another one exceeds
   * its share of the budget by more.
   */
  whoGivesWay(owner: string): string | undefined {
    let largest = owner;
    let most = this.of(owner) + 1;
    for (const [name, amount] of this.used) {
      if (amount > most) {
        largest = name;
        most = amount;
      }
    }
    return this.of(largest) > 0 ? largest : this.largest();
  }

  largest(): string | undefined {
    let largest: string | undefined;
    let most = 0;
    for (const [name, amount] of this.used) {
      if (amount > most) {
        largest = name;
        most = amount;
      }
    }
    return largest;
  }
}
