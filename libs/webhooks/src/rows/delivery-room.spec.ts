import { DeliveryRoom, SESSIONS } from './delivery-room.js';

describe(DeliveryRoom.name, () => {
  let room: DeliveryRoom;
  beforeEach(() => {
    room = new DeliveryRoom();
  });
  const taken = (lane: string, events: number): number =>
    Array.from({ length: events }, () => room.take('w', lane)).filter(Boolean).length;

  it('counts what waits again after a thousand events, or half a minute', () => {
    expect(room.isKnown('w', 1, 0)).toBe(false);
    room.set('w', { waiting: 10, sessions: 0 }, 0);
    expect(room.isKnown('w', 1_000, 29_999)).toBe(true);
    expect(room.isKnown('w', 1, 30_000)).toBe(false);
    expect(taken('server', 900)).toBe(900);
    expect(room.isKnown('w', 100, 0)).toBe(true);
    expect(room.isKnown('w', 101, 0)).toBe(false);
  });

  it('takes no more than the webhook may have waiting, without counting for each event', () => {
    room.set('w', { waiting: 49_990, sessions: 0 }, 0);
    expect(taken('server', 20)).toBe(10);
    expect(room.isKnown('w', 500, 4_999)).toBe(true);
    expect(room.isKnown('w', 1, 5_000)).toBe(false);
  });

  it('leaves half of the room to other events than those of sessions', () => {
    room.set('w', { waiting: 25_000, sessions: 24_990 }, 0);
    expect(taken(SESSIONS, 100)).toBe(10);
    expect(taken('policy', 100)).toBe(100);
  });
});
