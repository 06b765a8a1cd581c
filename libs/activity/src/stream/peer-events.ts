import type { Principal } from '@app/access';
import { backoffMs, type Clock, type Peer, type PeerRequests, type Peers } from '@app/platform';
import type { EventFilter } from '../feed/activity-feed.js';
import { EventCursor } from './event-cursor.js';
import type { ListenerStream } from './listener-stream.js';
import { FrameReader } from './frame-reader.js';

const WAITS = { firstMs: 250, longestMs: 5_000 };

/** The surroundings of a replica in a cluster. */
export interface ClusterParts {
  readonly peers: Peers;
  readonly requests: PeerRequests;
  readonly clock: Clock;
}

/** What the client asked for. */
export interface PeerQuestion {
  readonly filter: EventFilter;
  readonly principal: Principal;
  /** It has read events before, of replicas that it names. */
  readonly isContinued: boolean;
}

/** What one replica has told. */
interface Link {
  readonly stop: AbortController;
  /** The number of the newest event that was queued for the client; undefined for a client that begins. */
  seen: number | undefined;
  /** Without a position the replica tells what happens from the connection on. */
  mayHaveMissed: boolean;
}

/**
 * What the other replicas tell to one client of this one: a request to each of them with the filter of the client, so
 * that a replica tells only what a client hears, and continues from what it keeps after a broken connection.
 */
export class PeerEvents {
  private readonly links = new Map<string, Link>();
  private readonly path: string;

  constructor(
    private readonly stream: ListenerStream,
    private readonly asked: PeerQuestion,
    private readonly cluster: ClusterParts,
  ) {
    this.path = pathOf(asked.filter);
    // A replica that the position does not have has started since.
    this.connect(asked.isContinued ? 0 : undefined);
  }

  /** Connects to replicas that are new: what they told since their start is new to the client too. */
  follow(): void {
    this.connect(0);
  }

  end(): void {
    for (const { stop } of this.links.values()) stop.abort();
  }

  private connect(since: number | undefined): void {
    for (const peer of this.cluster.peers.others) {
      if (this.links.has(peer.id)) continue;
      const seen = this.stream.cursor.of(peer.id.slice(0, 8)) ?? since;
      const link = { stop: new AbortController(), seen, mayHaveMissed: false };
      this.links.set(peer.id, link);
      void this.keep(peer, link).finally(() => this.links.delete(peer.id));
    }
  }

  /** Until the client, or the replica, is gone. */
  private async keep(peer: Peer, link: Link): Promise<void> {
    const { clock, peers } = this.cluster;
    const { signal } = link.stop;
    for (let failures = 0; !signal.aborted && peers.get(peer.id);) {
      const isHeard = await this.hear(peer, link).catch(() => false);
      if (!isHeard && link.seen === undefined && !link.mayHaveMissed && !signal.aborted) {
        link.mayHaveMissed = true;
        this.stream.passGap();
      }
      failures = isHeard ? 1 : failures + 1;
      await clock.sleep(backoffMs(failures, WAITS), signal).catch(() => undefined);
    }
  }

  /** Resolves when the connection ends; true if it had begun. */
  private async hear(peer: Peer, link: Link): Promise<boolean> {
    const replica = peer.id.slice(0, 8);
    const answer = await this.cluster.requests.send(peer, {
      method: 'GET',
      path: this.path,
      principal: this.asked.principal,
      headers: link.seen === undefined ? {} : { 'last-event-id': `${replica}-${link.seen}` },
      signal: link.stop.signal,
    });
    if (answer.statusCode !== 200) {
      answer.resume();
      return false;
    }
    if (link.mayHaveMissed) this.stream.passGap();
    link.mayHaveMissed = false;
    const frames = new FrameReader();
    answer.setEncoding('utf8');
    for await (const chunk of answer) {
      for (const { id, data } of frames.read(String(chunk))) {
        const seq = EventCursor.read(id)?.of(replica);
        if (seq === undefined) continue;
        link.seen = seq;
        this.stream.pass({ replica, seq, text: data });
      }
    }
    return true;
  }
}

/** With ids, which are shorter than names may be: a pass has the path in it. */
function pathOf({ topics, serverIds }: EventFilter): string {
  const servers = serverIds ? `&server=${[...serverIds].join(',')}` : '';
  return `/api/v1/events?topics=${[...topics].join(',')}${servers}`;
}
