import { EventCursor } from './event-cursor.js';
import { EventQueue } from './event-queue.js';

const REPLICA = '3f2a9c1b';

/** A client that takes so many frames before it has to be resumed. */
function queueFor({ takes = Infinity } = {}) {
  const frames: string[] = [];
  const client = { takes, frames };
  const queue = new EventQueue(
    new EventCursor(),
    (frame) => {
      frames.push(frame);
      return frames.length < client.takes;
    },
    (lost) => `gap ${lost}`,
  );
  const add = (seq: number, text = `event ${seq}`): void =>
    queue.add({ replica: REPLICA, seq, text });
  return { client, frames, queue, add };
}

describe(EventQueue.name, () => {
  it('writes events at once, each with the position after it', () => {
    const { frames, add } = queueFor();
    add(1);
    add(2);
    expect(frames).toEqual([
      `id: ${REPLICA}-1\ndata: event 1\n\n`,
      `id: ${REPLICA}-2\ndata: event 2\n\n`,
    ]);
  });

  it('writes nothing more to a client that does not take it, until it does', () => {
    const { client, frames, queue, add } = queueFor({ takes: 1 });
    for (const seq of [1, 2, 3]) add(seq);
    expect(frames).toHaveLength(1);
    expect(queue.cursor.toString()).toBe(`${REPLICA}-1`);
    client.takes = Infinity;
    queue.resume();
    expect(frames).toHaveLength(3);
  });

  it('drops what comes beyond 512 events, and says once how many', () => {
    const { client, frames, queue, add } = queueFor({ takes: 1 });
    for (let seq = 1; seq <= 1_000; seq++) add(seq);
    expect(queue.size).toBe(512);
    client.takes = Infinity;
    queue.resume();
    // One was written, 512 waited, and 487 were lost.
    expect(frames).toHaveLength(514);
    expect(frames.at(-1)).toBe(`id: ${REPLICA}-1000\ndata: gap 487\n\n`);
    add(1_001);
    expect(frames.at(-1)).toBe(`id: ${REPLICA}-1001\ndata: event 1001\n\n`);
  });

  it('holds at most half a million characters, whatever their number', () => {
    const { queue, add } = queueFor({ takes: 1 });
    for (let seq = 1; seq <= 512; seq++) add(seq, 'x'.repeat(10_000));
    expect(queue.size).toBe(50);
  });

  it('says of a gap of unknown size that it is unknown', () => {
    const { frames, queue } = queueFor();
    queue.addGap();
    expect(frames).toEqual(['id: \ndata: gap null\n\n']);
  });
});
