import { Injectable, Logger } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import { isLogLevel, type LogLevel, moreTalkative } from '@app/mcp-protocol';
import type { McpClient } from '@app/mcp-server';
import type { UpstreamSession } from '@app/mcp-client';
import type { JsonValue } from '@app/platform';
import { type LevelWish, PassedSession, SessionPool } from '@app/sessions';

const SET_WITHIN_MS = 5_000;
/** Level set at a server once no client requests one any more. */
const USUAL_LEVEL: LogLevel = 'info';

interface Wish {
  readonly level: LogLevel;
  /** Undefined for all servers. */
  readonly serverIds: readonly string[] | undefined;
}

/** Sets each server's log level to the most verbose one that a connected client requests. */
@Injectable()
export class ServerLogs {
  private readonly logger = new Logger(ServerLogs.name);
  /** By client; those of other replicas by replica and server. */
  private readonly wishes = new Map<McpClient | string, Wish>();
  private readonly sent = new WeakMap<UpstreamSession, LogLevel | undefined>();

  constructor(
    private readonly catalogue: Catalogue,
    private readonly sessions: SessionPool,
  ) {}

  /** Sets the level of a client, for some servers or for all. */
  async want(
    client: McpClient,
    level: JsonValue | undefined,
    serverIds?: readonly string[],
  ): Promise<void> {
    if (!isLogLevel(level)) return;
    this.wishes.set(client, { level, serverIds });
    await this.tell(serverIds);
  }

  /** What clients of another replica request of a server that runs here. */
  async wantElsewhere(serverId: string, { replica, level }: LevelWish): Promise<void> {
    const key = `${replica} ${serverId}`;
    if (level === null) this.wishes.delete(key);
    else this.wishes.set(key, { level, serverIds: [serverId] });
    await this.tell([serverId]);
  }

  forgetReplica(replica: string): void {
    for (const [key, { serverIds }] of this.wishes) {
      if (typeof key !== 'string' || !key.startsWith(`${replica} `)) continue;
      this.wishes.delete(key);
      void this.tell(serverIds);
    }
  }

  /** Removes the level of a client whose session has ended. */
  forget(client: McpClient): void {
    const wish = this.wishes.get(client);
    if (wish && this.wishes.delete(client)) void this.tell(wish.serverIds);
  }

  /** A new or renewed session starts without a level. */
  async restore(serverId: string, session: UpstreamSession): Promise<void> {
    this.sent.delete(session);
    await this.set(serverId, session);
  }

  private async tell(serverIds: readonly string[] | undefined): Promise<void> {
    const ids = serverIds ?? [...this.catalogue.current.servers.keys()];
    await Promise.all(
      ids.map(async (id) => {
        const session = this.sessions.get(id);
        if (session) await this.set(id, session);
      }),
    );
  }

  private async set(serverId: string, session: UpstreamSession): Promise<void> {
    if (!session.capabilities['logging']) return;
    const known = this.sent.get(session);
    const wanted = this.levelFor(serverId);
    const isElsewhere = session instanceof PassedSession;
    const level = wanted ?? (isElsewhere ? undefined : known && USUAL_LEVEL);
    // A replica that leads again may remember another level of this one.
    const isFirst = isElsewhere && !this.sent.has(session);
    if (level === known && !isFirst) return;
    this.sent.set(session, level);
    try {
      if (isElsewhere) await session.wantLevel(level);
      else if (level)
        await session.request('logging/setLevel', { level }, { timeoutMs: SET_WITHIN_MS });
    } catch (error) {
      this.sent.delete(session);
      this.logger.debug({ serverId, err: error }, 'a server did not take the log level');
    }
  }

  private levelFor(serverId: string): LogLevel | undefined {
    let least: LogLevel | undefined;
    for (const wish of this.wishes.values()) {
      if (wish.serverIds?.includes(serverId) === false) continue;
      least = least === undefined ? wish.level : moreTalkative(least, wish.level);
    }
    return least;
  }
}
