import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSecretFile, OwnFile } from './whole-file.js';

describe('a file in the data folder', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const file = (): string => join(folder, 'file');
  const text = (): string => readFileSync(file(), 'utf8');

  it('keeps the content of its first writer, readable for its owner only', () => {
    expect(createSecretFile(file(), 'first')).toBe(true);
    expect(createSecretFile(file(), 'second')).toBe(false);
    expect(text()).toBe('first');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['file']);
  });

  it('is not disturbed by the draft of another process with the same id', () => {
    writeFileSync(`${file()}.${process.pid}`, 'a longer draft of process 1 in another container');
    createSecretFile(file(), 'mine');
    expect(text()).toBe('mine');
    expect(readFileSync(`${file()}.${process.pid}`, 'utf8')).toMatch(/^a longer draft/);
  });

  it('replaces an existing file, and is removed by its writer', () => {
    writeFileSync(file(), 'of one that was killed');
    const own = new OwnFile(file());
    own.write('mine');
    expect(text()).toBe('mine');
    own.remove();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is left alone when another process has replaced it, also by the same text', () => {
    const own = new OwnFile(file());
    const other = new OwnFile(file());
    own.write('http://127.0.0.1:8081');
    other.write('http://127.0.0.1:8081');
    own.remove();
    expect(text()).toBe('http://127.0.0.1:8081');
    other.remove();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is left alone when it was removed and another process has written it since', () => {
    const [own, other] = [new OwnFile(file()), new OwnFile(file())];
    own.write('http://127.0.0.1:8081');
    rmSync(file());
    // Many file systems give it the inode of the first one.
    other.write('http://127.0.0.1:8082');
    own.remove();
    expect(text()).toBe('http://127.0.0.1:8082');
  });

  it('is left alone when it has the inode of another time', () => {
    const own = new OwnFile(file());
    own.write('http://127.0.0.1:8081');
    const { mtimeMs } = statSync(file());
    utimesSync(file(), mtimeMs / 1_000, mtimeMs / 1_000 + 1);
    own.remove();
    expect(text()).toBe('http://127.0.0.1:8081');
  });

  it('is not removed by a process that never wrote it', () => {
    writeFileSync(file(), 'of another');
    new OwnFile(file()).remove();
    expect(text()).toBe('of another');
  });
});
