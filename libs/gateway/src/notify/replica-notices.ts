import { Injectable, Logger } from '@nestjs/common';
import { isJsonObject, type JsonObject, type Peer, PeerRequests, Peers } from '@app/platform';
import { z } from 'zod';

/** Where a replica takes what a server that runs at another one said to its clients. */
export const NOTICES_PATH = '/mcp/replicas/notices';

const LOG = 'notifications/message';
const PAGE_DONE = 'notifications/elicitation/complete';
/** Notices that wait for one replica; what comes then is dropped, as for a client that does not read. */
const MAX_WAITING = 200;
const MAX_AT_ONCE = 50;
const MAX_CHARS = 65_536;
const ANSWER_WITHIN_MS = 5_000;
const SENDER = { name: 'system', scopes: ['call' as const], subjects: [] };

const noticeSchema = z.object({
  serverId: z.uuid(),
  method: z.enum([LOG, PAGE_DONE]),
  params: z.custom<JsonObject>(isJsonObject),
  /** The subject of the only user that it is for (contract R51). */
  user: z.string().min(1).max(2_000),
});
/** What a server said outside of any call to one user. */
export type ReplicaNotice = z.infer<typeof noticeSchema>;
const noticesSchema = z.object({ notices: z.array(z.unknown()).max(MAX_AT_ONCE) });

/** Those of a request that this version knows. */
export function noticesIn(body: unknown): readonly ReplicaNotice[] {
  const read = noticesSchema.safeParse(body);
  if (!read.success) return [];
  return read.data.notices.flatMap((notice) => noticeSchema.safeParse(notice).data ?? []);
}

/** Undefined if it is too large for other replicas. */
function textOf(notice: ReplicaNotice): string | undefined {
  const text = JSON.stringify(notice);
  return text.length > MAX_CHARS ? undefined : text;
}

interface Waiting {
  readonly texts: string[];
  isSending: boolean;
}

/**
 * Tells the clients of other replicas what a server that runs here alone says to its user outside of calls. In order,
 * at most once, and not again after a failure, as MCP sends notifications.
 */
@Injectable()
export class ReplicaNotices {
  private readonly logger = new Logger(ReplicaNotices.name);
  private readonly waiting = new Map<string, Waiting>();

  constructor(
    private readonly peers: Peers,
    private readonly requests: PeerRequests,
  ) {}

  /** A log message, to the clients of its user wherever they are. */
  tellAll(serverId: string, params: JsonObject, user: string): void {
    if (!this.peers.isClustered) return;
    const text = textOf({ serverId, method: LOG, params, user });
    for (const peer of this.peers.others) this.tell(peer, text);
  }

  /** To the replica of the client that was asked to open a page. */
  tellPageDone(replicaId: string, serverId: string, params: JsonObject, user: string): void {
    const peer = this.peers.get(replicaId);
    if (peer) this.tell(peer, textOf({ serverId, method: PAGE_DONE, params, user }));
  }

  private tell(peer: Peer, text: string | undefined): void {
    if (text === undefined) return;
    const waiting = this.waiting.get(peer.id) ?? { texts: [], isSending: false };
    if (waiting.texts.length >= MAX_WAITING) return;
    waiting.texts.push(text);
    this.waiting.set(peer.id, waiting);
    if (!waiting.isSending) void this.sendAll(peer, waiting);
  }

  private async sendAll(peer: Peer, waiting: Waiting): Promise<void> {
    waiting.isSending = true;
    try {
      while (waiting.texts.length > 0) {
        const body = `{"notices":[${waiting.texts.splice(0, MAX_AT_ONCE).join(',')}]}`;
        await this.send(peer, body);
      }
    } catch (error) {
      this.logger.debug({ replica: peer.id, err: error }, 'a replica was not told of notices');
    } finally {
      this.waiting.delete(peer.id);
    }
  }

  private async send(peer: Peer, body: string): Promise<void> {
    const answer = await this.requests.send(peer, {
      method: 'POST',
      path: NOTICES_PATH,
      principal: SENDER,
      body,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    });
    answer.resume();
  }
}
