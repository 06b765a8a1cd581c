import { Inject, Injectable } from '@nestjs/common';
import { ConnectFailed } from '@app/mcp-client';
import { Env, errorCode } from '@app/platform';
import type { Person } from '@app/access';
import { hash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';

/**
 * Working directories of programs without a configured `cwd`: one per server in the data folder, kept until the
 * server is removed.
 */
@Injectable()
export class ServerFolders {
  private readonly parent: string;
  private readonly isShared: boolean;

  constructor(@Inject(Env) env: Env) {
    this.parent = resolve(env.MCP_AGGREGATOR_DATA_DIR, 'servers');
    this.isShared = Boolean(env.DATABASE_URL);
  }

  /** One of its own for each person, whose process may keep tokens or a cache there. */
  async make(serverId: string, person?: Person): Promise<string> {
    const folder = person
      ? join(this.parent, serverId, 'people', hash('sha256', person.subject, 'hex'))
      : join(this.parent, serverId);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new ConnectFailed(
        `its working folder ${folder} cannot be made: ${errorCode(error) ?? 'unknown reason'}; mend it, or set cwd in connection_config`,
      );
    }
    return folder;
  }

  async remove(serverId: string): Promise<void> {
    await rm(join(this.parent, serverId), { recursive: true, force: true, maxRetries: 3 });
  }

  /**
   * Ids of servers that have a folder here; empty where services on different databases may share the data folder.
   */
  async ids(): Promise<readonly string[]> {
    return this.isShared ? [] : readdir(this.parent).catch(() => []);
  }
}
