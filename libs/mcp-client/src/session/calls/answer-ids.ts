import type { RpcId } from '@app/mcp-protocol';
import { UpstreamProtocolError } from '../../upstream.errors.js';
import { IdHistory } from './id-history.js';
import type { OpenStreams } from './open-streams.js';
import type { PendingCalls } from './pending-calls.js';
import { ownId } from '../response.js';

interface AnsweredSession {
  readonly calls: PendingCalls;
  readonly streams: OpenStreams;
  /** Also requests of a negotiation. */
  awaits(id: RpcId): boolean;
  /** A request with an exchange of its own got the answer of another one. */
  failExchange(id: RpcId, error: Error): void;
  /** The server has answered a request that was given up. */
  answeredLate(id: number): void;
  /** The server answers what it was not asked. */
  lose(reason: string): void;
}

/**
 * Finds the request that an answer is for. Where each request has its own exchange, the exchange decides and the id
 * only confirms it; on a shared stream the id decides and must not come twice (contract R43).
 */
export class AnswerIds {
  /** Only where all answers share one stream. */
  private readonly history: IdHistory | undefined;

  constructor(
    private readonly session: AnsweredSession,
    isShared: boolean,
  ) {
    this.history = isShared ? new IdHistory() : undefined;
  }

  /** Undefined when the answer matches no request of this session; `during` is the request in whose exchange it came. */
  requestOf(given: RpcId, during: RpcId | undefined): RpcId | undefined {
    const id = ownId(given);
    if (!this.history) {
      if (during === undefined || id === during) return during;
      if (id !== undefined && this.session.awaits(id)) {
        const error = new UpstreamProtocolError('it answered a request with the id of another');
        this.session.failExchange(during, error);
      }
      return undefined;
    }
    if (id === undefined) return undefined;
    if (this.session.calls.has(id) || this.session.streams.has(id)) {
      this.history.noteAnswered(id);
      return id;
    }
    const objection = this.history.objectionTo(id);
    if (objection === undefined) this.session.answeredLate(id);
    else this.session.lose(objection);
    return undefined;
  }

  /** The request that a message without a readable id seems to answer. */
  requestOfUnreadable(id: RpcId | undefined, during: RpcId | undefined): RpcId | undefined {
    return this.history ? (id ?? this.session.calls.only()?.id) : during;
  }

  noteGivenUp(id: number): void {
    this.history?.noteGivenUp(id);
  }
}
