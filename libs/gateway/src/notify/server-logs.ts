import { Injectable, Logger } from '@nestjs/common';
import { Catalogue } from '@app/catalogue';
import { isLogLevel, type LogLevel, moreTalkative } from '@app/mcp-protocol';
import type { McpClient } from '@app/mcp-server';
import type { UpstreamSession } from '@app/mcp-client';
import type { JsonValue } from '@app/platform';
import { SessionPool } from '@app/sessions';

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
  private readonly wishes = new Map<McpClient, Wish>();
  private readonly sent = new WeakMap<UpstreamSession, LogLevel>();

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
    const level = this.levelFor(serverId) ?? (known && USUAL_LEVEL);
    if (level === undefined || level === known) return;
    this.sent.set(session, level);
    try {
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
