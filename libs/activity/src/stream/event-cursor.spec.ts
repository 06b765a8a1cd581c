import { EventCursor } from './event-cursor.js';

describe(EventCursor.name, () => {
  it('is written and read as one position for each replica', () => {
    const cursor = EventCursor.read('3f2a9c1b-1024.77ab12cd-55');
    expect(cursor?.of('3f2a9c1b')).toBe(1024);
    expect(cursor?.of('77ab12cd')).toBe(55);
    expect(cursor?.of('00000000')).toBeUndefined();
    expect(cursor?.toString()).toBe('3f2a9c1b-1024.77ab12cd-55');
  });

  it('never goes back', () => {
    const cursor = new EventCursor([['3f2a9c1b', 7]]);
    cursor.advance('3f2a9c1b', 5);
    expect(cursor.of('3f2a9c1b')).toBe(7);
    cursor.advance('3f2a9c1b', 9);
    expect(cursor.of('3f2a9c1b')).toBe(9);
  });

  it.each([
    'x',
    '3f2a9c1b',
    '3f2a9c1b-',
    '3f2a9c1b-1.',
    'ZZZZZZZZ-1',
    '3f2a9c1b-1e9',
    '3f2a9c1b--1',
  ])('is not %j', (text) => expect(EventCursor.read(text)).toBeUndefined());

  it('holds no more replicas than a cluster has', () => {
    const many = Array.from({ length: 65 }, (_, n) => `${n.toString(16).padStart(8, '0')}-1`);
    expect(EventCursor.read(many.join('.'))).toBeUndefined();
    const cursor = new EventCursor();
    for (const part of many) cursor.advance(part.slice(0, 8), 1);
    expect(cursor.replicas).toHaveLength(64);
  });
});
