import { Injectable } from '@nestjs/common';
import { Clock, Peers, Signal } from '@app/platform';
import {
  type ActivityEvent,
  type ActivityNote,
  type ActivityTopic,
  activityTopics,
  boundedData,
  isStateTopic,
  type StateTopic,
} from './activity-event.js';
import { EventRing } from './event-ring.js';

/**
 * Of changes of state, and of calls, searches, queries and audit entries. Sessions are kept apart, because each client
 * begins and ends as many as it likes.
 */
const KEPT_EVENTS = 1_000;
const KEPT_CHARS = 1_000_000;
const KEPT_SESSIONS = 500;
const KEPT_SESSION_CHARS = 250_000;
const DONE = Promise.resolve();

/** What a listener wants. */
export interface EventFilter {
  readonly topics: ReadonlySet<ActivityTopic>;
  /** Ids; undefined for events about any server and about none. */
  readonly serverIds: ReadonlySet<string> | undefined;
  /** Whether it is told who called. */
  readonly isAdmin: boolean;
}

export interface FeedListener extends EventFilter {
  /** Must not block, nor throw. */
  receive(event: ActivityEvent): void;
}

/** A change of state, as it is stored for webhooks. */
export interface StateEvent {
  readonly topic: StateTopic;
  readonly serverIds: readonly string[];
  /** The envelope, without the caller. */
  readonly text: string;
}

/** Undefined if there is nothing to store. Must not reject. */
export type StoreEvent = (event: StateEvent) => Promise<void> | undefined;

/** What was missed: events of this process, oldest first. */
export interface Missed {
  readonly events: readonly ActivityEvent[];
  /** Events that fit the topics up to this number may be missing, because they are no longer kept; 0 if all are. */
  readonly lostUpTo: number;
}

/**
 * What happens in this process, for those who listen. No caller waits for a listener: each has a queue of its own, or
 * takes the event at once.
 */
@Injectable()
export class ActivityFeed {
  /** Short: it is a part of every id. */
  readonly replica: string;
  private readonly listeners = new Set<FeedListener>();
  private readonly states = new EventRing(KEPT_EVENTS, KEPT_CHARS);
  private readonly sessions = new EventRing(KEPT_SESSIONS, KEPT_SESSION_CHARS);
  private readonly busy = new EventRing(KEPT_EVENTS, KEPT_CHARS);
  /** Of topics that are kept only while they are heard: the number at which each lost its last listener. */
  private readonly unheard = new Map<ActivityTopic, number>();
  private heard: ReadonlySet<ActivityTopic> = new Set();
  private readonly topicsChanged = new Signal<void>('topics');
  private store: StoreEvent = () => undefined;
  private seq = 0;

  constructor(
    private readonly clock: Clock,
    peers: Peers,
  ) {
    this.replica = peers.self.slice(0, 8);
  }

  /** The number of the newest event. */
  get lastSeq(): number {
    return this.seq;
  }

  isHeard(topic: ActivityTopic): boolean {
    return this.heard.has(topic);
  }

  /** Changes of state are stored before `tell` resolves. */
  storeWith(store: StoreEvent): void {
    this.store = store;
  }

  /** Called when a topic gets its first listener, and when it loses its last one. */
  onTopics(listener: () => void): () => void {
    return this.topicsChanged.hear(listener);
  }

  /** The returned function removes the listener. */
  listen(listener: FeedListener): () => void {
    this.listeners.add(listener);
    this.noteTopics();
    return () => {
      this.listeners.delete(listener);
      this.noteTopics();
    };
  }

  /** Calls, searches, queries and audit entries are dropped without a listener; changes of state are kept. Never rejects. */
  tell({ topic, data, serverIds = [], caller, summary }: ActivityNote): Promise<void> {
    const isHeard = this.heard.has(topic);
    const isState = isStateTopic(topic);
    if (!isHeard && !isState) return DONE;
    const seq = ++this.seq;
    const at = this.clock.now().toISOString();
    const id = `${this.replica}-${seq}`;
    const bounded = boundedData(data);
    const head = { id, at, topic: summary ?? topic };
    const text = JSON.stringify({ ...head, data: bounded });
    const adminText =
      caller === undefined ? text : JSON.stringify({ ...head, data: { caller, ...bounded } });
    const about = summary ? undefined : serverIds;
    const event: ActivityEvent = { topic, seq, serverIds: about, text, adminText };
    if (!summary) this.ringOf(topic).add(event);
    if (isHeard) {
      for (const listener of this.listeners) if (admits(listener, event)) listener.receive(event);
    }
    return (isStateTopic(topic) && this.store({ topic, serverIds, text })) || DONE;
  }

  /** At most so many of the events that fit the filter, after the one with this number. */
  missed(filter: EventFilter, seq: number, most = Infinity): Missed {
    const rings = [this.states, this.sessions, this.busy];
    const events = rings
      .flatMap((ring) => ring.after(seq))
      .filter((event) => admits(filter, event))
      .toSorted((one, other) => one.seq - other.seq);
    return {
      events: events.slice(0, most),
      lostUpTo: Math.max(...rings.map((ring) => ring.lostUpTo(filter.topics))),
    };
  }

  /** Whether a topic of the filter was heard by no one for a time after this number, so that its events were dropped. */
  wasUnheard({ topics }: Pick<EventFilter, 'topics'>, seq: number): boolean {
    for (const topic of topics) if ((this.unheard.get(topic) ?? 0) > seq) return true;
    return false;
  }

  private ringOf(topic: ActivityTopic): EventRing {
    if (topic === 'session') return this.sessions;
    return isStateTopic(topic) ? this.states : this.busy;
  }

  private noteTopics(): void {
    const listeners = [...this.listeners];
    const before = this.heard;
    this.heard = new Set(
      activityTopics.filter((topic) => listeners.some(({ topics }) => topics.has(topic))),
    );
    for (const topic of before) {
      // The number is of no event: a client that comes later begins after it.
      if (!this.heard.has(topic) && !isStateTopic(topic)) this.unheard.set(topic, ++this.seq);
    }
    void this.topicsChanged.tell();
  }
}

function admits({ topics, serverIds }: EventFilter, event: ActivityEvent): boolean {
  if (!topics.has(event.topic)) return false;
  return !serverIds || !event.serverIds || event.serverIds.some((id) => serverIds.has(id));
}
