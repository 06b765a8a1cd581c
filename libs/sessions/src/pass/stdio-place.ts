import { Inject, Injectable } from '@nestjs/common';
import { ConnectFailed, ConnectionLost, type UpstreamSession } from '@app/mcp-client';
import {
  AppError,
  Clock,
  CoalescedRuns,
  Env,
  Leadership,
  type Peer,
  Peers,
  type Tenure,
} from '@app/platform';
import type { Server } from '@app/registry';
import { PassedSession } from './passed-session.js';

/** A call waits up to five seconds for a session; starting the program takes the rest. */
const HANDOVER_MS = 4_500;
const LOOK_AGAIN_MS = 100;

/**
 * At which replica a STDIO server runs: at the one that leads, so that its state is the same for all its users. With
 * MCP_AGGREGATOR_STDIO_PER_REPLICA it runs wherever it is called.
 */
@Injectable()
export class StdioPlace {
  /** Many servers wait for the same leader. */
  private readonly looks = new CoalescedRuns();

  constructor(
    private readonly peers: Peers,
    private readonly leadership: Leadership,
    private readonly clock: Clock,
    @Inject(Env) private readonly env: Env,
  ) {}

  /** The replica to pass requests on to; undefined when the server runs here. */
  private async elsewhere(): Promise<Peer | undefined> {
    if (this.isAlwaysHere || this.leadership.leads) return undefined;
    // Another may have taken over since the last question.
    if (this.peers.leaderId === undefined && (await this.leadership.refresh())) return undefined;
    const { leaderId } = this.peers;
    if (leaderId === undefined) {
      throw new ConnectFailed('no replica leads at the moment; the next one starts the server');
    }
    const leader = await this.peers.find(leaderId);
    if (!leader && this.peers.isLeaderStarting) throw new ConnectFailed('the leader is starting');
    // One of a version that takes no requests of others: the server runs here too, as it did with that version.
    return leader;
  }

  /**
   * Connects to the replica that leads; undefined when the server runs here. While leadership moves, as when a replica
   * stops or was killed, an attempt at the former leader fails at once, and the next one is made at its successor.
   */
  async atLeader<T>(
    signal: AbortSignal,
    connect: (leader: Peer) => Promise<T>,
  ): Promise<T | undefined> {
    const until = this.clock.monotonic() + HANDOVER_MS;
    for (;;) {
      let tried: string | undefined;
      try {
        const leader = await this.elsewhere();
        tried = leader?.id;
        return leader && (await connect(leader));
      } catch (error) {
        await this.looks.run('leader', async () => void (await this.leadership.refresh()));
        const hasMoved = this.leadership.leads || this.peers.leaderId !== tried;
        if (!hasMoved && tried !== undefined && !wasNotReached(error)) throw error;
        if (signal.aborted || this.clock.monotonic() >= until) throw error;
        await this.clock.sleep(LOOK_AGAIN_MS, signal);
      }
    }
  }

  /**
   * For requests of other replicas, which look for the next leader by themselves: rejects with NotHere when this one
   * leads no longer, also while the request waits.
   */
  async whileHere<T>(work: () => Promise<T>): Promise<T> {
    const tenure = this.leadership.currentTenure();
    if (!tenure) throw new NotHere();
    const { ended } = tenure;
    let moved = (): void => undefined;
    const over = new Promise<never>((_, reject) => {
      moved = () => reject(new NotHere());
      ended.addEventListener('abort', moved, { once: true });
    });
    try {
      return await Promise.race([work(), over]);
    } finally {
      ended.removeEventListener('abort', moved);
    }
  }

  /** While it leads, for a server that is to run here only then; undefined where it runs at every replica. */
  tenure(): Tenure | undefined {
    return this.isAlwaysHere ? undefined : this.leadership.currentTenure();
  }

  /** The replica that has the log of the server's process, if it is another one. */
  logsAt({ transportType }: Pick<Server, 'transportType'>): Peer | undefined {
    const isHere = transportType !== 'STDIO' || this.isAlwaysHere || this.leadership.leads;
    return isHere ? undefined : this.peers.leader;
  }

  /** The session has to be closed, because the server runs, or has to run, at another replica than it is to. */
  isMisplaced(
    { transportType }: Pick<Server, 'transportType'>,
    session: UpstreamSession | undefined,
  ): boolean {
    if (!session || transportType !== 'STDIO' || this.isAlwaysHere) return false;
    if (session instanceof PassedSession) return this.hasMoved(session);
    return !this.leadership.leads && this.peers.leader !== undefined;
  }

  /** The session leads to a replica that runs the server no longer. */
  hasMoved(session: UpstreamSession): boolean {
    if (!(session instanceof PassedSession)) return false;
    return this.leadership.leads || this.hasMovedFrom(session.replicaId);
  }

  private hasMovedFrom(replicaId: string): boolean {
    const { leader } = this.peers;
    return leader !== undefined && leader.id !== replicaId;
  }

  private get isAlwaysHere(): boolean {
    return !this.peers.isClustered || this.env.MCP_AGGREGATOR_STDIO_PER_REPLICA;
  }
}

/** The replica that passes requests on has not learnt yet that another one leads. */
export class NotHere extends AppError {
  constructor() {
    super('The server runs at another replica by now; nothing was executed', {
      kind: 'unavailable',
      code: 'NOT_LEADING',
      context: { outcome: 'not executed' },
    });
  }
}

/** The connection was refused or broke: the process may have ended, which the next look at the leader finds out. */
function wasNotReached(error: unknown): boolean {
  return error instanceof ConnectFailed && error.cause instanceof ConnectionLost;
}
