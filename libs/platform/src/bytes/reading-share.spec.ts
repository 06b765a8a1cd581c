import { ReadingShare } from './reading-share.js';

const TOTAL = { add: () => undefined, waitMs: 0 };

describe(ReadingShare.name, () => {
  let clock: number;
  let share: ReadingShare;

  beforeEach(() => {
    clock = 1_000;
    share = new ReadingShare(() => clock, TOTAL);
  });

  function read(ms: number, note?: 'noteMessage' | 'noteAnswer', bytes = 1_000): void {
    share.beginPiece();
    if (note) share[note]();
    share.endPiece(bytes, ms);
  }

  it('lets a server send a short burst without a pause', () => {
    read(1.9, 'noteMessage');
    expect(share.waitMs).toBe(0);
  });

  it('gives a server that floods a quarter of the time, pauses included', () => {
    const begun = clock;
    let readMs = 0;
    while (readMs < 100) {
      read(0.5, 'noteMessage');
      readMs += 0.5;
      clock += 0.5 + share.waitMs;
    }
    expect(readMs / (clock - begun)).toBeLessThan(0.27);
  });

  it('pays for pauses with nothing once they are over', () => {
    read(6, 'noteMessage');
    expect(share.waitMs).toBeCloseTo(16);
    clock += 16.001;
    expect(share.waitMs).toBe(0);
  });

  it('does not count the answers that requests wait for, however long they take', () => {
    for (let i = 0; i < 100; i++) read(40, 'noteAnswer');
    expect(share.waitMs).toBe(0);
  });

  it('counts a message that comes after the answer in another piece', () => {
    read(10, 'noteAnswer');
    read(10, 'noteMessage');
    expect(share.waitMs).toBeGreaterThan(0);
  });

  it('does not count the bytes of a long message that is not complete', () => {
    for (let i = 0; i < 1_000; i++) read(0.05, undefined, 65_536);
    expect(share.waitMs).toBe(0);
  });

  it('counts pieces that take long for their size and complete nothing', () => {
    for (let i = 0; i < 20; i++) read(0.4, undefined, 4_096);
    expect(share.waitMs).toBeGreaterThan(0);
  });

  it('holds no server responsible for a pause of the whole process', () => {
    read(5_000, 'noteMessage');
    expect(share.waitMs).toBeLessThanOrEqual(50);
  });

  it('makes a server that floods wait for the others that do, and no other server', () => {
    const crowded = { add: () => undefined, waitMs: 70 };
    share = new ReadingShare(() => clock, crowded);
    expect(share.waitMs).toBe(0);
    read(3, 'noteMessage');
    expect(share.waitMs).toBe(70);
  });
});
