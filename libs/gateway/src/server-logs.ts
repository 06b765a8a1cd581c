import { Injectable, Logger } from '@nestjs/common';
import { isLogLevel, type LogLevel, moreTalkative, type UpstreamSession } from '@app/mcp';
import type { JsonValue } from '@app/platform';

const SET_WITHIN_MS = 5_000;

/** Servers are asked for all that any client wants to read; each client then gets what it asked for. */
@Injectable()
export class ServerLogs {
  private readonly logger = new Logger(ServerLogs.name);
  private wanted: LogLevel | undefined;

  async want(level: JsonValue | undefined, sessions: readonly UpstreamSession[]): Promise<void> {
    if (!isLogLevel(level)) return;
    this.wanted = this.wanted === undefined ? level : moreTalkative(this.wanted, level);
    await Promise.all(sessions.map((session) => this.restore(session)));
  }

  async restore(session: UpstreamSession): Promise<void> {
    if (this.wanted === undefined || !session.capabilities['logging']) return;
    const params = { level: this.wanted };
    try {
      await session.request('logging/setLevel', params, { timeoutMs: SET_WITHIN_MS });
    } catch (error) {
      this.logger.debug({ err: error }, 'a server did not take the log level');
    }
  }
}
