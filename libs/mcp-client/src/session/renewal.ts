import type { AppError } from '@app/platform';
import type { ProtocolEra, RpcId } from '@app/mcp-protocol';
import type { RequestOptions, SessionEnd } from '../upstream.js';
import { ConnectFailed, ConnectionLost, CredentialsRefused } from '../upstream.errors.js';
import { inTime } from './in-time.js';

/** The longest wait of a call for a new session (contract R41). */
export const RENEW_WITHIN_MS = 5_000;
const TOO_LATE = 'no session in time';

interface RenewableSession {
  /** Opens a new session on the same wire; without an era the server is probed. */
  negotiate(era: ProtocolEra | undefined): Promise<void>;
  end(error: AppError, cause: SessionEnd['cause']): Promise<void>;
  guarded(handle: () => void): void;
}

/**
 * Replaces a session that the server lost, or whose protocol era is wrong since the server was restarted: once for
 * all requests that notice, on the same wire.
 */
export class Renewal {
  /** Counts the sessions on this wire. */
  generation = 0;
  private running: Promise<void> | undefined;
  /** When each request that waits for the new session began to wait. */
  private readonly waiting = new Map<RpcId, number>();
  private readonly handlers = new Set<() => void>();

  constructor(private readonly session: RenewableSession) {}

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  onDone(handler: () => void): void {
    this.handlers.add(handler);
  }

  /** `generation` is the session that is gone; `era` is undefined when the server has to be probed. */
  run(generation: number, era: ProtocolEra | undefined): Promise<void> {
    if (this.generation !== generation && !this.running) return Promise.resolve();
    this.running ??= this.replace(era).finally(() => {
      this.running = undefined;
    });
    return this.running;
  }

  /** Waits for a new session on behalf of a request, not longer than the request may wait. */
  async runFor(
    id: RpcId,
    { renewWithinMs = RENEW_WITHIN_MS }: Pick<RequestOptions, 'renewWithinMs'>,
    ...gone: Parameters<Renewal['run']>
  ): Promise<void> {
    const startedAt = performance.now();
    this.waiting.set(id, startedAt);
    try {
      await inTime(this.run(...gone), { ms: renewWithinMs, reason: TOO_LATE });
    } catch (error) {
      if (!(error instanceof ConnectFailed)) throw error;
      const waitedMs = performance.now() - startedAt;
      throw new ConnectionLost('no new session in time', 'no', error, waitedMs);
    } finally {
      this.waiting.delete(id);
    }
  }

  /** How long the request has been waiting; undefined when it is not. */
  waitedMs(id: RpcId): number | undefined {
    const startedAt = this.waiting.get(id);
    return startedAt === undefined ? undefined : performance.now() - startedAt;
  }

  private async replace(era: ProtocolEra | undefined): Promise<void> {
    try {
      await inTime(this.negotiate(era), { ms: RENEW_WITHIN_MS, reason: TOO_LATE });
    } catch (error) {
      if (error instanceof CredentialsRefused) {
        await this.session.end(error, 'refused');
        throw error;
      }
      const lost = new ConnectionLost(
        'the server forgot the session and gave no new one',
        'no',
        error,
      );
      await this.session.end(lost, 'lost');
      throw lost;
    }
    this.generation++;
    for (const handler of this.handlers) this.session.guarded(handler);
  }

  /** A server that refuses the handshake of the remembered era is probed. */
  private async negotiate(era: ProtocolEra | undefined): Promise<void> {
    try {
      await this.session.negotiate(era);
    } catch (error) {
      const isRefused = error instanceof ConnectFailed && error.handshakeRefused;
      if (era === undefined || !isRefused) throw error;
      await this.session.negotiate(undefined);
    }
  }
}
