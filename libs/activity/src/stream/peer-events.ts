import type { Principal } from '@app/access';
import { backoffMs, type Clock, type Peer, type PeerRequests, type Peers } from '@app/platform';
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

/**
 * What the other replicas tell to one client of this one: a request to each of them with the filter of the client, so
 * that a replica tells only what a client hears, and continues from what it keeps after a broken connection.
 */
export class PeerEvents {
  private readonly links = new Map<string, AbortController>();

  constructor(
    private readonly stream: ListenerStream,
    private readonly path: string,
    private readonly principal: Principal,
    private readonly cluster: ClusterParts,
  ) {
    this.connect(undefined);
  }

  /** Connects to replicas that are new: what they told since their start is new to the client too. */
  follow(): void {
    this.connect(0);
  }

  end(): void {
    for (const stop of this.links.values()) stop.abort();
  }

  private connect(since: number | undefined): void {
    for (const peer of this.cluster.peers.others) {
      if (this.links.has(peer.id)) continue;
      const stop = new AbortController();
      this.links.set(peer.id, stop);
      void this.keep(peer, stop, since).finally(() => this.links.delete(peer.id));
    }
  }

  /** Until the client, or the replica, is gone. */
  private async keep(peer: Peer, stop: AbortController, since: number | undefined): Promise<void> {
    const { clock, peers } = this.cluster;
    for (let failures = 0; !stop.signal.aborted && peers.get(peer.id);) {
      const isHeard = await this.hear(peer, stop.signal, since).catch(() => false);
      failures = isHeard ? 1 : failures + 1;
      await clock.sleep(backoffMs(failures, WAITS), stop.signal).catch(() => undefined);
    }
  }

  /** Resolves when the connection ends; true if it had begun. */
  private async hear(peer: Peer, signal: AbortSignal, since: number | undefined): Promise<boolean> {
    const replica = peer.id.slice(0, 8);
    const seen = this.stream.cursor.of(replica) ?? since;
    const answer = await this.cluster.requests.send(peer, {
      method: 'GET',
      path: this.path,
      principal: this.principal,
      headers: seen === undefined ? {} : { 'last-event-id': `${replica}-${seen}` },
      signal,
    });
    if (answer.statusCode !== 200) {
      answer.resume();
      return false;
    }
    const frames = new FrameReader();
    answer.setEncoding('utf8');
    for await (const chunk of answer) {
      for (const { id, data } of frames.read(String(chunk))) {
        const seq = EventCursor.read(id)?.of(replica);
        if (seq !== undefined) this.stream.pass({ replica, seq, text: data });
      }
    }
    return true;
  }
}
