import { PacedReader } from './paced-reader.js';
import { ReadingShare } from './reading-share.js';

const TOTAL = { add: () => undefined, waitMs: 0 };

async function until(check: () => boolean): Promise<void> {
  while (!check()) await new Promise((done) => setImmediate(done));
}

describe(PacedReader.name, () => {
  const source = { isPaused: false, pause: () => undefined, resume: () => undefined };
  let read: { text: string; hasMore: boolean }[];
  const textRead = (): string => read.map(({ text }) => text).join('');

  beforeEach(() => {
    read = [];
    source.isPaused = false;
    source.pause = () => void (source.isPaused = true);
    source.resume = () => void (source.isPaused = false);
  });

  /** A reader whose work takes this long for each piece. */
  function reader(busyMs: number, share = new ReadingShare(undefined, TOTAL)): PacedReader {
    return new PacedReader(
      source,
      (piece, hasMore) => {
        const end = performance.now() + busyMs;
        share.noteMessage();
        read.push({ text: piece.toString('latin1'), hasMore });
        while (performance.now() < end);
      },
      share,
    );
  }

  it('reads short bytes at once and does not pause', () => {
    expect(reader(0).push(Buffer.from('short'))).toBe(true);
    expect(read).toEqual([{ text: 'short', hasMore: false }]);
    expect(source.isPaused).toBe(false);
  });

  it('gives way between pieces, with the stream paused, and loses nothing', async () => {
    const text = Array.from({ length: 4_000 }, (_, i) => `${i} line\n`).join('');
    const paced = reader(1);
    expect(paced.push(Buffer.from(text))).toBe(false);
    expect(textRead().length).toBeLessThan(text.length);
    expect(source.isPaused).toBe(true);
    await until(() => !source.isPaused);
    expect(textRead()).toBe(text);
    expect(paced.isHolding).toBe(false);
  });

  it('keeps its own copy of what it holds, and the order of what is delivered meanwhile', async () => {
    const shared = Buffer.from('a'.repeat(20_000));
    const paced = reader(3);
    paced.push(shared);
    shared.fill('b');
    paced.push(shared.subarray(0, 5_000));
    shared.fill('c');
    await until(() => !paced.isHolding);
    expect(textRead()).toBe('a'.repeat(20_000) + 'b'.repeat(5_000));
  });

  it('says of each piece whether more was delivered with it', async () => {
    const paced = reader(3);
    paced.push(Buffer.from('x'.repeat(20_000)));
    paced.push(Buffer.from('y'));
    await until(() => !paced.isHolding);
    expect(read.length).toBeGreaterThan(2);
    expect(read.map(({ hasMore }) => hasMore)).toEqual(read.map((_, i) => i < read.length - 1));
  });

  it('makes pieces smaller that take long', async () => {
    const paced = reader(1);
    paced.push(Buffer.from('x'.repeat(30_000)));
    await until(() => !paced.isHolding);
    expect(read.at(-2)?.text.length).toBeLessThanOrEqual(1_024);
  });

  it('reads the rest without the share of the server once that has ended, and says when', async () => {
    const never = { add: () => undefined, waitMs: 3_600_000 };
    const paced = reader(5, new ReadingShare(undefined, never));
    let isRead = false;
    paced.push(Buffer.from('x'.repeat(12_000)));
    paced.hurry();
    paced.onceRead(() => void (isRead = true));
    expect(isRead).toBe(false);
    await until(() => isRead);
    expect(textRead()).toHaveLength(12_000);
  });
});
