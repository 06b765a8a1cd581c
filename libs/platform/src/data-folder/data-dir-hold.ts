import { Logger } from '@nestjs/common';
import { mkdirSync, readFileSync, type Stats, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameFile } from '../files/whole-file.js';
import { Announcement, type Rival } from './announcement.js';
import { DataDirInUse, DataDirUnusable, makeDataDir } from './data-dir.js';
import { isOnOneKernel, thisKernel } from './holder-record.js';
import { BEAT_MS, freshStat, isTouched, LOOK_EVERY_MS } from './liveness.js';

/** Two processes that start at the same moment see each other; both withdraw and try again. */
const ATTEMPTS = 20;
const STEP_BACK_MS = { least: 50, most: 300 };
/** For a slow holder that was considered dead: its running statement ends without being acknowledged. */
const SETTLE_MS = 1_000;

const logger = new Logger('platform');

/**
 * Exclusive use of the data folder: two processes in one embedded database corrupt it. Each process announces itself
 * before it looks for others, so of two at least one sees the other (docs/decisions/0710).
 */
export class DataDirHold {
  private readonly own = new Map<string, Stats>();
  private readonly stat: (file: string) => Stats | undefined;
  private readonly watch: NodeJS.Timeout;
  private loss: string | undefined;

  private constructor(
    private readonly dataDir: string,
    private readonly announcement: Announcement,
    isLocal: boolean,
  ) {
    this.own.set(announcement.file, announcement.identity);
    this.stat = isLocal ? (file) => statSync(file, { throwIfNoEntry: false }) : freshStat;
    this.watch = setInterval(() => this.isHeld(), BEAT_MS).unref();
  }

  /** Creates the folder if it is missing. Throws DataDirInUse when a running process holds it. */
  static async take(dataDir: string, lookEveryMs = LOOK_EVERY_MS): Promise<DataDirHold> {
    makeDataDir(dataDir);
    const lockDir = join(dataDir, 'lock');
    try {
      mkdirSync(lockDir, { recursive: true, mode: 0o700 });
      return await DataDirHold.compete(dataDir, lockDir, lookEveryMs);
    } catch (error) {
      if (error instanceof DataDirInUse) throw error;
      throw new DataDirUnusable(dataDir, lockDir, error);
    }
  }

  private static async compete(
    dataDir: string,
    lockDir: string,
    lookEveryMs: number,
  ): Promise<DataDirHold> {
    const isLocal = isOnOneKernel(lockDir);
    for (let attempt = 1; ; attempt++) {
      const announcement = await Announcement.make(lockDir);
      const rival = await livingRival(announcement, isLocal, lookEveryMs).catch(
        (error: unknown) => {
          announcement.withdraw();
          throw error;
        },
      );
      if (!rival) {
        announcement.say('running');
        const hold = new DataDirHold(dataDir, announcement, isLocal);
        if (hold.isHeld()) return hold;
        hold.release();
        continue;
      }
      announcement.withdraw();
      if (rival.record?.state !== 'starting' || attempt >= ATTEMPTS) {
        throw new DataDirInUse(dataDir, rival.record, addressIn(dataDir));
      }
      const { least, most } = STEP_BACK_MS;
      await sleep(least + Math.random() * (most - least));
    }
  }

  /** Why the hold was lost; it cannot be regained. */
  get lost(): string | undefined {
    return this.loss;
  }

  /** Whether the folder and all guarded files are unchanged; costs a few microseconds. */
  isHeld(): boolean {
    if (this.loss !== undefined) return false;
    for (const [path, before] of this.own) {
      const now = this.look(path);
      if (now && isSameFile(now, before)) continue;
      this.loss = this.lossOf(path);
      logger.error(
        { data_dir: this.dataDir, reason: this.loss, hint: 'nothing is stored until a restart' },
        'data_folder.lost',
      );
      return false;
    }
    return true;
  }

  /** Adds a file or folder in the data folder that must not be replaced. */
  add(path: string): void {
    this.own.set(path, statSync(path));
  }

  /** Shown to a process that is refused during the shutdown. */
  sayStopping(): void {
    if (this.isHeld()) this.announcement.say('stopping');
  }

  release(): void {
    clearInterval(this.watch);
    this.loss ??= 'The data folder was released';
    this.announcement.withdraw();
  }

  /** A folder that cannot be read counts as lost. */
  private look(path: string): Stats | undefined {
    try {
      return this.stat(path);
    } catch {
      return undefined;
    }
  }

  private lossOf(path: string): string {
    const [other] = path === this.announcement.file ? this.rivals() : [];
    const { host, pid } = other?.record ?? {};
    return other
      ? `Another Switchboard (host ${host ?? 'unknown'}, process ${pid ?? 'unknown'}) has taken over the data folder ${this.dataDir}`
      : `The data folder ${this.dataDir} was removed or replaced while it was in use`;
  }

  private rivals(): Rival[] {
    try {
      return this.announcement.rivals();
    } catch {
      return [];
    }
  }
}

/** Removes the files of dead processes. */
async function livingRival(
  own: Announcement,
  isLocal: boolean,
  lookEveryMs: number,
): Promise<Rival | undefined> {
  const rivals = own.rivals();
  const answers = await Promise.all(rivals.map(({ id }) => own.socket.ask(id)));
  const alive = rivals.find((_, i) => answers[i] === 'lives');
  if (alive) return alive;
  const kernel = thisKernel();
  const unclear: Rival[] = [];
  for (const [i, rival] of rivals.entries()) {
    const { record } = rival;
    const isOfThisKernel = isLocal || (kernel !== undefined && record?.kernel === kernel);
    if (answers[i] === 'refuses' && record?.hasSocket && isOfThisKernel) own.removeRival(rival);
    else unclear.push(rival);
  }
  return unclear.length > 0 ? waitForBeat(own, unclear, lookEveryMs) : undefined;
}

async function waitForBeat(
  own: Announcement,
  unclear: readonly Rival[],
  lookEveryMs: number,
): Promise<Rival | undefined> {
  const hosts = unclear.map(({ record }) => record?.host ?? 'unknown');
  logger.warn(
    { hosts, hint: 'waiting 15 s to check whether the other holder is running' },
    'data_folder.held_elsewhere',
  );
  const isAlive = await Promise.all(unclear.map(({ file }) => isTouched(file, lookEveryMs)));
  const alive = unclear.find((_, i) => isAlive[i]);
  if (alive) return alive;
  for (const rival of unclear) own.removeRival(rival);
  logger.warn({ hosts }, 'data_folder.taken_over');
  await sleep(SETTLE_MS);
  return undefined;
}

/** Used in the message only. */
function addressIn(dataDir: string): string | undefined {
  try {
    return readFileSync(join(dataDir, 'address'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
