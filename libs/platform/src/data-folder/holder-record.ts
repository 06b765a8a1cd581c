import { readFileSync, statfsSync } from 'node:fs';
import { hostname } from 'node:os';
import { z } from 'zod';

const schema = z.object({
  host: z.string(),
  pid: z.number(),
  since: z.string(),
  /** Boot id of the machine; containers on one machine share it. */
  kernel: z.string().nullable(),
  hasSocket: z.boolean(),
  state: z.enum(['starting', 'running', 'stopping']),
});

/** What a process that uses the data folder, or is about to, writes to `<data folder>/lock/<id>.json`. */
export type HolderRecord = z.infer<typeof schema>;

/** Fixed length of every record, so that an update replaces it in one write. */
const RECORD_BYTES = 1_024;

export function newRecord(hasSocket: boolean): HolderRecord {
  return {
    host: hostname().slice(0, 255),
    pid: process.pid,
    since: new Date().toISOString(),
    kernel: thisKernel() ?? null,
    hasSocket,
    state: 'starting',
  };
}

export function recordText(record: HolderRecord): string {
  return `${JSON.stringify(record)}\n`.padEnd(RECORD_BYTES);
}

/** Undefined when it is missing or unreadable. */
export function readRecord(file: string): HolderRecord | undefined {
  try {
    const parsed: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return schema.safeParse(parsed).data;
  } catch {
    return undefined;
  }
}

/** Undefined where the kernel cannot be identified, as in some sandboxes. */
export function thisKernel(): string | undefined {
  if (process.platform !== 'linux') return hostname();
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** statfs(2): ext2-4, XFS, Btrfs, tmpfs, overlay, ZFS, F2FS. */
const ONE_KERNEL_ONLY = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010,
]);

/**
 * Whether only one kernel at a time mounts the file system of the folder. False for network file systems; undecided for
 * FUSE.
 */
export function isOnOneKernel(folder: string): boolean {
  return process.platform === 'linux' && ONE_KERNEL_ONLY.has(statfsSync(folder).type);
}
