/** In an interval: of all callers, and of one of them, who may invent ids. */
const MAX_UNKNOWN = 200;
const MAX_OF_CALLER = 50;

/** Uses after searches that are not known here, until the other replicas are asked about them. */
export class UnknownUses {
  /** Messages by caller. */
  private ofCallers = new Map<string, Set<string>>();
  private count = 0;

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** If there is no room, who has most of it gives way. */
  add(searchId: string, toolId: number, caller: string): void {
    const own = this.ofCallers.get(caller) ?? new Set<string>();
    const message = `${searchId} ${toolId} ${caller}`;
    if (own.has(message) || own.size >= MAX_OF_CALLER) return;
    if (this.count >= MAX_UNKNOWN) {
      const most = this.most();
      if (most.size <= own.size + 1) return;
      dropFirst(most);
      this.count -= 1;
    }
    this.ofCallers.set(caller, own.add(message));
    this.count += 1;
  }

  take(): readonly string[] {
    const all = [...this.ofCallers.values()].flatMap((own) => [...own]);
    this.ofCallers = new Map();
    this.count = 0;
    return all;
  }

  private most(): Set<string> {
    let most = new Set<string>();
    for (const own of this.ofCallers.values()) if (own.size > most.size) most = own;
    return most;
  }
}

function dropFirst(all: Set<string>): void {
  for (const first of all) {
    all.delete(first);
    return;
  }
}
