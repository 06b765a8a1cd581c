import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { errorCode } from '../errors/error-code.js';
import { Clock } from '../work/clock.js';
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

/**
 * Asks replicas whether they are awake. A request that a stopped process or a dead network swallows has an unknown
 * outcome and must not be repeated; one that was kept back meanwhile can be sent to the next owner.
 */
@Injectable()
export class PeerPulse {
  private readonly asking = new Map<string, Promise<Pulse>>();

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
      const pulse = await this.askOnce(peer);
      if (pulse !== 'silent') return pulse;
      const isLate = this.clock.monotonic() + ASK_AGAIN_MS > until;
      if (isLate || signal.aborted) return 'silent';
      await this.clock.sleep(ASK_AGAIN_MS, signal).catch(() => undefined);
    }
  }

  /** The replica that says that it leads, for one that the database does not answer. */
  async leader(): Promise<string | undefined> {
    const answers = await Promise.all(
      this.peers.others.map(async (peer) => {
        const answer = await this.question(peer).catch(() => undefined);
        return answer?.leads ? peer.id : undefined;
      }),
    );
    return answers.find((id) => id !== undefined);
  }

  /** Many requests wait for the same answer; never rejects. */
  askOnce(peer: Peer): Promise<Pulse> {
    let asked = this.asking.get(peer.id);
    if (!asked) {
      asked = this.question(peer).then(
        () => 'answers' as const,
        (error: unknown) => (errorCode(error) === 'ECONNREFUSED' ? 'refuses' : 'silent'),
      );
      this.asking.set(peer.id, asked);
      void asked.finally(() => this.asking.delete(peer.id));
    }
    return asked;
  }

  /** Undefined from a replica of a version without pulses, which is awake too. */
  private async question(peer: Peer): Promise<PulseAnswer | undefined> {
    const answer = await this.requests.send(peer, {
      method: 'GET',
      path: PULSE_PATH,
      principal: SYSTEM_PRINCIPAL,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    const text = await textOf(answer, MAX_ANSWER_BYTES);
    return answer.statusCode === 200 ? schema.parse(JSON.parse(text)) : undefined;
  }
}
