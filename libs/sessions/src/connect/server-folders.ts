import { Inject, Injectable } from '@nestjs/common';
import { ConnectFailed } from '@app/mcp-client';
import { Env, errorCode } from '@app/platform';
import type { Person } from '@app/access';
import { hash } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/**
 * Working directories of programs without a configured `cwd`: one per server in the data folder, kept until the
 * server is removed; and one for each person, beside those, where the shared process does not look for its own files.
 */
@Injectable()
export class ServerFolders {
  private readonly parent: string;
  private readonly people: string;
  private readonly isShared: boolean;

  constructor(@Inject(Env) env: Env) {
    this.parent = resolve(env.MCP_AGGREGATOR_DATA_DIR, 'servers');
    this.people = resolve(env.MCP_AGGREGATOR_DATA_DIR, 'people');
    this.isShared = Boolean(env.DATABASE_URL);
  }

  /** One of its own for each person, whose process may keep tokens or a cache there. */
  async make(serverId: string, person?: Person): Promise<string> {
    const folder = person ? this.of(serverId, person) : join(this.parent, serverId);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw new ConnectFailed(
        `its working folder ${folder} cannot be made: ${errorCode(error) ?? 'unknown reason'}; mend it${person ? '' : ', or set cwd in connection_config'}`,
      );
    }
    return folder;
  }

  async remove(serverId: string): Promise<void> {
    await removed(join(this.people, serverId));
    await removed(join(this.parent, serverId));
  }

  async removeOf(serverId: string, person: Pick<Person, 'subject'>): Promise<void> {
    await removed(this.of(serverId, person));
  }

  /** Ids of servers for which people have folders here; with a shared database, perhaps also servers of another. */
  ofPeople(): Promise<readonly string[]> {
    return readdir(this.people).catch(() => []);
  }

  /** Removes the folders of all other people. `subjects` is asked after the folders were listed. */
  async keepOnly(serverId: string, subjects: () => Promise<readonly string[]>): Promise<void> {
    const folder = join(this.people, serverId);
    const found = await readdir(folder).catch(() => []);
    if (found.length === 0) return;
    const kept = new Set((await subjects()).map(nameOf));
    await Promise.all(
      found.filter((name) => !kept.has(name)).map((name) => removed(join(folder, name))),
    );
  }

  /**
   * Ids of servers that have a folder here; empty where services on different databases may share the data folder.
   */
  async ids(): Promise<readonly string[]> {
    if (this.isShared) return [];
    const found = await Promise.all(
      [this.parent, this.people].map((folder) => readdir(folder).catch(() => [])),
    );
    return [...new Set(found.flat())];
  }

  private of(serverId: string, { subject }: Pick<Person, 'subject'>): string {
    return join(this.people, serverId, nameOf(subject));
  }
}

function nameOf(subject: string): string {
  return hash('sha256', subject, 'hex');
}

/**
 * Where programs keep logins and settings: in the folder of the person. Packages are the same for everyone, so they are
 * not downloaded again for each.
 */
export function homeIn(folder: string, isWindows = process.platform === 'win32'): Environment {
  const shared = homedir();
  const local = isWindows ? join(shared, 'AppData', 'Local') : join(shared, '.cache');
  return {
    HOME: folder,
    XDG_CONFIG_HOME: join(folder, '.config'),
    XDG_CACHE_HOME: join(folder, '.cache'),
    XDG_DATA_HOME: join(folder, '.local', 'share'),
    XDG_STATE_HOME: join(folder, '.local', 'state'),
    npm_config_cache: isWindows ? join(local, 'npm-cache') : join(shared, '.npm'),
    UV_CACHE_DIR: isWindows ? join(local, 'uv', 'cache') : join(local, 'uv'),
    ...(isWindows && {
      USERPROFILE: folder,
      APPDATA: join(folder, 'AppData', 'Roaming'),
      LOCALAPPDATA: join(folder, 'AppData', 'Local'),
    }),
  };
}
type Environment = Readonly<Record<string, string>>;

async function removed(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
