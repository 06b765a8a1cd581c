import { Injectable, Logger } from '@nestjs/common';
import type { UpstreamSession } from '@app/mcp';
import { SessionPool } from '@app/sessions';

const SUBSCRIBE_WITHIN_MS = 10_000;

/** One subscription at the server, however many clients want to hear of a resource. */
@Injectable()
export class ResourceSubscriptions {
  private readonly logger = new Logger(ResourceSubscriptions.name);
  private readonly counts = new Map<string, Map<string, number>>();

  constructor(private readonly sessions: SessionPool) {}

  /** Returns the function that ends it; calling that twice changes nothing. */
  async subscribe(serverId: string, uri: string, session: UpstreamSession): Promise<() => void> {
    const counts = this.counts.get(serverId) ?? new Map<string, number>();
    this.counts.set(serverId, counts);
    if (!counts.has(uri)) await send(session, 'resources/subscribe', uri);
    counts.set(uri, (counts.get(uri) ?? 0) + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.release(serverId, uri, counts);
    };
  }

  async restore(serverId: string, session: UpstreamSession): Promise<void> {
    const uris = [...(this.counts.get(serverId)?.keys() ?? [])];
    const outcomes = await Promise.allSettled(
      uris.map((uri) => send(session, 'resources/subscribe', uri)),
    );
    const lost = outcomes.filter((outcome) => outcome.status === 'rejected').length;
    if (lost > 0)
      this.logger.warn({ serverId, lost }, 'subscriptions did not survive a new session');
  }

  private release(serverId: string, uri: string, counts: Map<string, number>): void {
    const left = (counts.get(uri) ?? 1) - 1;
    if (left > 0) {
      counts.set(uri, left);
      return;
    }
    counts.delete(uri);
    if (counts.size === 0) this.counts.delete(serverId);
    const session = this.sessions.get(serverId);
    if (!session) return;
    send(session, 'resources/unsubscribe', uri).catch((error: unknown) => {
      this.logger.debug(
        { serverId, err: error },
        'a server did not take the end of a subscription',
      );
    });
  }
}

async function send(session: UpstreamSession, method: string, uri: string): Promise<void> {
  await session.request(method, { uri }, { timeoutMs: SUBSCRIBE_WITHIN_MS });
}
