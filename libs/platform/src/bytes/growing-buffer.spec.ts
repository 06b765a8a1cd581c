import { heldBytes } from '../../../../test/support/memory.js';
import { GrowingBuffer, UNCOUNTED } from './growing-buffer.js';
import { SharedBudget } from './shared-budget.js';

describe(GrowingBuffer.name, () => {
  it('gives what was put in, piece by piece', () => {
    const buffer = new GrowingBuffer(UNCOUNTED);
    for (const piece of ['a', '', 'bcd', 'e'.repeat(1_000)]) buffer.append(Buffer.from(piece));
    buffer.appendByte(0x0a);
    expect(buffer.take().toString()).toBe(`abcd${'e'.repeat(1_000)}\n`);
    expect(buffer.length).toBe(0);
  });

  it('holds a million pieces of one byte as a million bytes', () => {
    const before = heldBytes();
    const buffer = new GrowingBuffer(UNCOUNTED);
    const piece = Buffer.from('x');
    for (let i = 0; i < 1_000_000; i++) buffer.append(piece);
    expect(heldBytes() - before).toBeLessThan(10_000_000);
    expect(buffer.length).toBe(1_000_000);
  });

  it('allocates a length that was told as it comes, and never more', () => {
    const budget = new SharedBudget(1_000_000_000);
    const buffer = new GrowingBuffer(budget.share());
    buffer.expect(10_000_000);
    buffer.append(Buffer.alloc(10));
    expect(budget.held).toBeLessThanOrEqual(1_048_576);
    for (let i = 1; i < 1_000_000; i++) buffer.append(Buffer.alloc(10));
    expect(budget.held).toBe(10_000_000);
    buffer.take();
    expect(budget.held).toBe(0);
  });

  it('keeps what it has when there is no room for more', () => {
    const buffer = new GrowingBuffer(new SharedBudget(200).share());
    expect(buffer.append(Buffer.from('kept'))).toBe(true);
    expect(buffer.append(Buffer.alloc(150))).toBe(false);
    expect(buffer.take().toString()).toBe('kept');
  });
});

describe(SharedBudget.name, () => {
  it('leaves free as much as one server holds at most', () => {
    const share = new SharedBudget(1_000).share();
    expect(share.take(501)).toBe(false);
    expect(share.take(500)).toBe(true);
    expect(share.take(1)).toBe(false);
  });

  it('has room for the next server, however many take their maximum', () => {
    const budget = new SharedBudget(1_000_000);
    for (let i = 0; i < 50; i++) {
      const share = budget.share();
      while (share.take(1_000));
    }
    const next = budget.share();
    expect(next.take(1)).toBe(true);
  });

  it('gives room back once', () => {
    const budget = new SharedBudget(1_000);
    const share = budget.share();
    share.take(300);
    share.close();
    share.give(300);
    expect(budget.held).toBe(0);
    expect(share.take(1)).toBe(false);
  });
});
