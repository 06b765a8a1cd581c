import type { RpcId } from '@app/mcp-protocol';
import { ConnectionLost } from '../../upstream.errors.js';
import { pauseBeforeStream, STREAM_WAIT } from './stream-pause.js';
import type { UpstreamRequest } from '../upstream-request.js';

/** Lower bound for the `retry` value of a server. */
const MIN_WAIT_MS = 100;
/** Consecutive resumptions without an event; other attempts end at the deadline of the call. */
const MAX_RESUMES_IN_VAIN = 5;

export interface ResumedStreamHost {
  awaits(id: RpcId): boolean;
  /** Resumes after `lastEventId`, for the principal of the broken stream. */
  open(id: RpcId, lastEventId: string, principal: string | undefined): UpstreamRequest;
  /** Throws unless the stream broke in a way that can be resumed. */
  refuseUnlessResumable(error: unknown, request: UpstreamRequest): void;
  over(request: UpstreamRequest): void;
}

/** A server may close the stream of a long call; the client resumes it with GET (2025-11-25, "Resumability"). */
export class ResumedStreams {
  private readonly ids = new Set<RpcId>();

  constructor(
    private readonly host: ResumedStreamHost,
    private readonly closing: AbortSignal,
  ) {}

  has(id: RpcId): boolean {
    return this.ids.has(id);
  }

  /** Resolves when the request has its answer; throws when no more of the stream can be read. */
  async resume(id: RpcId, first: UpstreamRequest): Promise<void> {
    this.ids.add(id);
    try {
      await this.readOn(id, first);
    } finally {
      this.ids.delete(id);
    }
  }

  private async readOn(id: RpcId, first: UpstreamRequest): Promise<void> {
    const { host, closing } = this;
    let { lastEventId, retryMs } = first;
    for (let inVain = 0; inVain < MAX_RESUMES_IN_VAIN && host.awaits(id); inVain++) {
      if (lastEventId === undefined) break;
      await pauseBeforeStream(retryMs ?? STREAM_WAIT.firstMs, { leastMs: MIN_WAIT_MS, closing });
      if (!host.awaits(id)) return;
      const again = host.open(id, lastEventId, first.principal);
      try {
        await again.done;
        if (!again.isStream) break;
      } catch (error) {
        host.refuseUnlessResumable(error, again);
      } finally {
        host.over(again);
      }
      if (again.lastEventId !== undefined && again.lastEventId !== lastEventId) {
        lastEventId = again.lastEventId;
        inVain = -1;
      }
      retryMs = again.retryMs ?? retryMs;
    }
    if (host.awaits(id)) throw new ConnectionLost('the stream ended before the answer', 'unknown');
  }
}
