import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { errorCode } from '../errors/error-code.js';
import { Clock, within } from '../work/clock.js';
import { PeerRequests, textOf } from './peer-requests.js';
import { type Peer, Peers } from './peers.js';

export const PULSE_PATH = '/mcp/replicas/pulse';
const ANSWER_WITHIN_MS = 500;
const ASK_AGAIN_MS = 100;
const MAX_ANSWER_BYTES = 1_024;
const SYSTEM_PRINCIPAL = { name: 'system', scopes: ['read' as const], subjects: [] };

/** `refuses`: no process listens there. `silent`: it stands still, or the network does not reach it. */
export type Pulse = 'answers' | 'refuses' | 'silent';

const schema = z.object({ leads: z.boolean() });
/** What a replica answers. */
export type PulseAnswer = z.infer<typeof schema>;

interface Heard {
  readonly pulse: Pulse;
  readonly leads: boolean;
}
const SILENT: Heard = { pulse: 'silent', leads: false };

/**
 * Asks replicas whether they are awake. A request that a stopped process or a dead network swallows has an unknown
 * outcome and must not be repeated; one that was kept back meanwhile can be sent to the next owner.
 */
@Injectable()
export class PeerPulse {
  private readonly asking = new Map<string, Promise<Pulse>>();
  private looking: Promise<string | undefined> | undefined;

  constructor(
    private readonly peers: Peers,
    private readonly requests: PeerRequests,
    private readonly clock: Clock,
  ) {}

  /** Waits until the replica answers or refuses; `silent` when the time is over or `signal` is aborted. */
  async of(peer: Peer, withinMs: number, signal: AbortSignal): Promise<Pulse> {
    const until = this.clock.monotonic() + withinMs;
    for (;;) {
      if (this.peers.isAwake(peer.id)) return 'answers';
      const leftMs = until - this.clock.monotonic();
      if (signal.aborted || leftMs <= 0) return 'silent';
      const asked = this.askOnce(peer);
      const isLast = leftMs < ANSWER_WITHIN_MS;
      const pulse = await (isLast ? within(this.clock, leftMs, asked) : asked);
      if (pulse !== undefined && pulse !== 'silent') return pulse;
      await this.clock.sleep(ASK_AGAIN_MS, signal).catch(() => undefined);
    }
  }

  /** The replica that says that it leads, for one that the database does not answer; one question for all who ask. */
  leader(): Promise<string | undefined> {
    this.looking ??= this.lookForLeader().finally(() => (this.looking = undefined));
    return this.looking;
  }

  private async lookForLeader(): Promise<string | undefined> {
    const answers = await Promise.all(
      this.peers.others.map(async (peer) => {
        const { leads } = await this.question(peer).catch(() => SILENT);
        return leads ? peer.id : undefined;
      }),
    );
    return answers.find((id) => id !== undefined);
  }

  /** Many requests wait for the same answer; never rejects. */
  askOnce(peer: Peer): Promise<Pulse> {
    let asked = this.asking.get(peer.id);
    if (!asked) {
      asked = this.question(peer).then(
        ({ pulse }) => pulse,
        (error: unknown) => (errorCode(error) === 'ECONNREFUSED' ? 'refuses' : 'silent'),
      );
      this.asking.set(peer.id, asked);
      void asked.finally(() => this.asking.delete(peer.id));
    }
    return asked;
  }

  private async question(peer: Peer): Promise<Heard> {
    const answer = await this.requests.send(peer, {
      method: 'GET',
      path: PULSE_PATH,
      principal: SYSTEM_PRINCIPAL,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await textOf(answer, MAX_ANSWER_BYTES);
    switch (answer.statusCode) {
      case 200: {
        const { leads } = schema.parse(JSON.parse(text));
        this.peers.heard(peer.id);
        return { pulse: 'answers', leads };
      }
      // A version without pulses.
      case 404:
        this.peers.heard(peer.id);
        return { pulse: 'answers', leads: false };
      // Another process has its address by now.
      case 409:
        return { pulse: 'refuses', leads: false };
      // It has other keys; the request itself will say so.
      case 401:
        return { pulse: 'answers', leads: false };
      // Of a proxy before it, as a rule.
      default:
        return SILENT;
    }
  }
}
