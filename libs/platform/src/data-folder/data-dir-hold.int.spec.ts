import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import {
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../test/support/env.js';
import { DataDirInUse, DataDirUnusable } from './data-dir.js';
import { DataDirHold } from './data-dir-hold.js';

/** Another machine on the same folder: its socket is unknown to this kernel. */
const ELSEWHERE = '3a8a5a0e-0000-4000-8000-000000000001';
const QUICK_LOOK_MS = 5;

describe(DataDirHold.name, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>;
  let dataDir: string;
  const held: DataDirHold[] = [];
  const warn = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
  const error = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);

  beforeEach(async () => {
    folder = await temporaryFolder();
    dataDir = join(folder.path, 'data');
    warn.mockClear();
    error.mockClear();
  });
  afterEach(async () => {
    for (const hold of held.splice(0)) hold.release();
    await folder.remove();
  });
  afterAll(() => jest.restoreAllMocks());

  const take = async (): Promise<DataDirHold> => {
    const hold = await DataDirHold.take(dataDir, QUICK_LOOK_MS);
    held.push(hold);
    return hold;
  };
  const records = (): string[] =>
    readdirSync(join(dataDir, 'lock')).filter((name) => name.endsWith('.json'));
  const recordOf = (id: string): string => join(dataDir, 'lock', `${id}.json`);
  const holderElsewhere = (text: string): void => {
    mkdirSync(join(dataDir, 'lock'), { recursive: true });
    writeFileSync(recordOf(ELSEWHERE), text);
  };
  const recordElsewhere = JSON.stringify({
    host: 'other-host',
    pid: 1,
    since: '2026-01-01T00:00:00.000Z',
    kernel: 'another boot',
    hasSocket: true,
    state: 'running',
  });

  it('refuses a folder that is held, and names who holds it since when and where', async () => {
    await take();
    writeFileSync(join(dataDir, 'address'), 'http://127.0.0.1:8081');
    const refusal = take();
    await expect(refusal).rejects.toThrow(DataDirInUse);
    await expect(refusal).rejects.toThrow(
      new RegExp(
        `already uses the data folder .*host ${hostname()}, process ${process.pid}, since 20.*http://127.0.0.1:8081`,
      ),
    );
    expect(records()).toHaveLength(1);
  });

  it('reports that the holder is shutting down', async () => {
    (await take()).sayStopping();
    await expect(take()).rejects.toThrow('It is shutting down');
  });

  it('is free immediately after release, and leaves no files', async () => {
    const first = await take();
    held.splice(0);
    first.release();
    expect(readdirSync(join(dataDir, 'lock'))).toEqual([]);
    expect((await take()).isHeld()).toBe(true);
  });

  it('is held by exactly one of many processes that start at the same moment', async () => {
    const outcomes = await Promise.allSettled(Array.from({ length: 8 }, take));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toBeInstanceOf(DataDirInUse);
    }
    expect(records()).toHaveLength(1);
  });

  it('holds a folder whose path is too long for a socket', async () => {
    dataDir = join(folder.path, ...Array.from({ length: 5 }, () => 'a-long-name'.repeat(4)));
    await take();
    expect(readdirSync(join(dataDir, 'lock')).some((name) => name.endsWith('.sock'))).toBe(true);
    await expect(take()).rejects.toThrow(DataDirInUse);
    expect(warn).not.toHaveBeenCalled();
  });

  it.each([
    ['a record', recordElsewhere],
    ['a record that cannot be read', ''],
  ])('is taken from %s that is not touched, after saying that it waits', async (_, text) => {
    holderElsewhere(text);
    expect((await take()).isHeld()).toBe(true);
    expect(records()).toHaveLength(1);
    expect(warn).toHaveBeenCalledWith(
      expect.objectContaining({ hint: expect.stringContaining('waiting') }),
      'data_folder.held_elsewhere',
    );
  });

  it.each([
    ['forwards', 1],
    ['backwards', -1],
  ])(
    'is not taken from a remote holder that updates its record, with its clock going %s',
    async (_, direction) => {
      holderElsewhere(recordElsewhere);
      let beats = 0;
      const beat = setInterval(() => {
        beats += direction;
        utimesSync(recordOf(ELSEWHERE), 1_000_000 + beats, 1_000_000 + beats);
      }, QUICK_LOOK_MS);
      try {
        await expect(take()).rejects.toThrow('host other-host, process 1');
      } finally {
        clearInterval(beat);
      }
    },
  );

  it('is lost by a paused holder when another process takes over, and names that process', async () => {
    const paused = await take();
    rmSync(join(dataDir, 'lock'), { recursive: true });
    holderElsewhere(recordElsewhere);
    expect(paused.isHeld()).toBe(false);
    expect(paused.lost).toContain(
      'Another Switchboard (host other-host, process 1) has taken over',
    );
    expect(error).toHaveBeenCalledTimes(1);
    paused.isHeld();
    expect(error).toHaveBeenCalledTimes(1);
  });

  const disturbances: readonly (readonly [string, () => void])[] = [
    ['removed', () => rmSync(dataDir, { recursive: true })],
    ['moved away', () => renameSync(dataDir, `${dataDir}.old`)],
    [
      'replaced by an empty one',
      () => {
        renameSync(dataDir, `${dataDir}.old`);
        mkdirSync(dataDir);
      },
    ],
    [
      'replaced by a copy of itself',
      () => {
        cpSync(dataDir, `${dataDir}.copy`, {
          recursive: true,
          filter: (path) => !path.endsWith('.sock'),
        });
        rmSync(dataDir, { recursive: true });
        renameSync(`${dataDir}.copy`, dataDir);
      },
    ],
    [
      'missing a guarded file',
      () => {
        renameSync(join(dataDir, 'postgres'), join(dataDir, 'gone'));
      },
    ],
  ];
  it.each(disturbances)('is lost when the folder is %s', async (_, disturb) => {
    const hold = await take();
    mkdirSync(join(dataDir, 'postgres'));
    hold.add(join(dataDir, 'postgres'));
    expect(hold.isHeld()).toBe(true);
    disturb();
    expect(hold.isHeld()).toBe(false);
    expect(hold.lost).toContain('was removed or replaced while it was in use');
  });

  it('explains why a folder cannot be used', async () => {
    writeFileSync(dataDir, 'a file');
    await expect(take()).rejects.toThrow(DataDirUnusable);
    await expect(take()).rejects.toThrow(/data folder .* cannot be used: (EEXIST|ENOTDIR)/);
    expect(readFileSync(dataDir, 'utf8')).toBe('a file');
  });
});
