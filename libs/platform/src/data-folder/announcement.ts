import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fstatSync,
  fsyncSync,
  futimes,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { type HolderRecord, newRecord, readRecord, recordText } from './holder-record.js';
import { BEAT_MS, HolderSocket } from './liveness.js';

export interface Rival {
  readonly id: string;
  readonly file: string;
  readonly record: HolderRecord | undefined;
}

/**
 * Announces that this process uses, or is about to use, the data folder: a record and a socket under a random name that
 * is never reused, so that removing the files of a dead process cannot harm a running one.
 */
export class Announcement {
  /** Identity of the record when it was created: a different file in its place is not ours. */
  readonly identity: Stats;
  private readonly beat: NodeJS.Timeout;

  private constructor(
    private readonly lockDir: string,
    readonly socket: HolderSocket,
    private readonly record: HolderRecord,
    readonly file: string,
    private readonly descriptor: number,
  ) {
    this.identity = fstatSync(descriptor);
    // Failures are detected when the record is checked.
    this.beat = setInterval(() => {
      futimes(descriptor, new Date(), new Date(), () => undefined);
    }, BEAT_MS).unref();
  }

  static async make(lockDir: string): Promise<Announcement> {
    const id = randomUUID();
    const socket = new HolderSocket(lockDir);
    // Before the record exists: a record whose socket refuses connections belongs to a dead process.
    const record = newRecord(await socket.listen(id));
    const file = join(lockDir, `${id}.json`);
    const draft = `${file}.new`;
    try {
      const descriptor = openSync(draft, 'wx', 0o600);
      writeSync(descriptor, recordText(record));
      fsyncSync(descriptor);
      renameSync(draft, file);
      return new Announcement(lockDir, socket, record, file, descriptor);
    } catch (error) {
      rmSync(draft, { force: true });
      socket.close();
      throw error;
    }
  }

  say(state: HolderRecord['state']): void {
    this.record.state = state;
    writeSync(this.descriptor, recordText(this.record), 0);
  }

  rivals(): Rival[] {
    const ids = readdirSync(this.lockDir).flatMap(
      (name) => /^([\w-]+)\.json$/.exec(name)?.[1] ?? [],
    );
    const files = ids.map((id) => ({ id, file: join(this.lockDir, `${id}.json`) }));
    return files
      .filter(({ file }) => file !== this.file)
      .map((rival) => ({ ...rival, record: readRecord(rival.file) }));
  }

  /** Removes the files of a process that has ended, or that on resuming finds that it has lost the folder. */
  removeRival({ id, file }: Rival): void {
    rmSync(file, { force: true });
    rmSync(join(this.lockDir, `${id}.sock`), { force: true });
  }

  withdraw(): void {
    clearInterval(this.beat);
    rmSync(this.file, { force: true });
    this.socket.close();
    closeSync(this.descriptor);
  }
}
