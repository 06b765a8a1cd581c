import type { ActivityEvent, ActivityTopic } from './activity-event.js';

/** The newest events of this process, for clients that come back. Holds at most so many events and characters. */
export class EventRing {
  private events: ActivityEvent[] = [];
  private start = 0;
  private chars = 0;
  /** By topic, the number of the newest event that is no longer kept. */
  private readonly evicted = new Map<ActivityTopic, number>();

  constructor(
    private readonly maxEvents: number,
    private readonly maxChars: number,
  ) {}

  add(event: ActivityEvent): void {
    this.events.push(event);
    this.chars += event.adminText.length;
    while (this.size > this.maxEvents || (this.chars > this.maxChars && this.size > 1)) this.drop();
    if (this.start > this.maxEvents) {
      this.events = this.events.slice(this.start);
      this.start = 0;
    }
  }

  get size(): number {
    return this.events.length - this.start;
  }

  /** The number of the newest event of these topics that is no longer kept; 0 if all are. */
  lostUpTo(topics: ReadonlySet<ActivityTopic>): number {
    let newest = 0;
    for (const [topic, seq] of this.evicted) if (topics.has(topic)) newest = Math.max(newest, seq);
    return newest;
  }

  after(seq: number): readonly ActivityEvent[] {
    return this.events.slice(this.start).filter((event) => event.seq > seq);
  }

  private drop(): void {
    const oldest = this.events[this.start];
    if (!oldest) return;
    this.start += 1;
    this.chars -= oldest.adminText.length;
    this.evicted.set(oldest.topic, oldest.seq);
  }
}
