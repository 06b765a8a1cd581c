import { randomUUID } from 'node:crypto';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import type { ControlConnection } from './control-connection.js';
import { PEER_GONE_MS, type PeerRow, Peers } from './peers.js';

const ASK_EVERY_MS = 2_000;

describe(Peers, () => {
  let clock: FakeClock;
  let peers: Peers;
  let rows: PeerRow[];
  let questions: number;
  let gone: string[];

  beforeEach(() => {
    clock = new FakeClock();
    rows = [];
    questions = 0;
    gone = [];
    const control: Pick<ControlConnection, 'isNeeded' | 'query'> = {
      isNeeded: true,
      query: async <T>() => {
        questions += 1;
        return rows as T[];
      },
    };
    peers = new Peers(control as ControlConnection, clock, testEnv('unused'));
    peers.onGone((id) => gone.push(id));
  });

  const row = (id: string, seen: number, ageMs = 0): PeerRow => ({
    id,
    url: 'http://10.0.0.2:8081',
    seen: String(seen),
    age_ms: ageMs,
  });

  it('takes a replica whose heartbeat stands still for gone', async () => {
    const id = randomUUID();
    for (let ms = 0; ms <= PEER_GONE_MS; ms += ASK_EVERY_MS) {
      peers.learn([row(id, 1, ms)], undefined);
      expect(peers.get(id)).toBeDefined();
      await clock.advance(ASK_EVERY_MS);
    }
    peers.learn([row(id, 1, 8_000)], undefined);
    expect(peers.get(id)).toBeUndefined();
    expect(gone).toEqual([id]);
  });

  it('takes no replica for gone that answers, as one that has lost the database alone', async () => {
    const id = randomUUID();
    for (let ms = 0; ms <= 5 * PEER_GONE_MS; ms += ASK_EVERY_MS) {
      peers.learn([row(id, 1, ms)], undefined);
      if (ms > 6_000) expect(peers.quiet).toMatchObject([{ id }]);
      peers.heard(id);
      await clock.advance(ASK_EVERY_MS);
    }
    expect([peers.get(id)?.id, gone]).toEqual([id, []]);
    await clock.advance(ASK_EVERY_MS);
    peers.learn([row(id, 1, 40_000)], undefined);
    expect(gone).toEqual([id]);
  });

  it('takes a replica for awake right after it answered', async () => {
    const id = randomUUID();
    expect(peers.isAwake(id)).toBe(false);
    peers.heard(id);
    expect(peers.isAwake(id)).toBe(true);
    await clock.advance(250);
    expect(peers.isAwake(id)).toBe(false);
  });

  it('follows a replica that says that it leads, until the rows say who does', () => {
    const [former, next] = [randomUUID(), randomUUID()];
    const led: string[] = [];
    peers.onLeader((id) => led.push(id));
    peers.learn([row(former, 1), row(next, 1)], undefined);
    peers.follow(next);
    peers.follow(next);
    expect([peers.leader?.id, peers.isLeaderInRows, led]).toEqual([next, false, [next]]);
    peers.learn([row(former, 2), row(next, 2)], former);
    expect([peers.leader?.id, peers.isLeaderInRows, led]).toEqual([former, true, [next, former]]);
  });

  it('takes no replica for gone after an outage of the database, in which no heartbeat was written', async () => {
    const id = randomUUID();
    peers.learn([row(id, 1)], undefined);
    await clock.advance(60_000);
    peers.learn([row(id, 1, 60_000)], undefined);
    expect(peers.get(id)).toBeDefined();
    for (let i = 0; i < 4; i++) {
      await clock.advance(ASK_EVERY_MS);
      peers.learn([row(id, 1, 60_000)], undefined);
    }
    expect(gone).toEqual([id]);
  });

  it('forgets a replica that has left at once', () => {
    const id = randomUUID();
    peers.learn([row(id, 1)], id);
    expect(peers.leader).toMatchObject({ id });
    peers.learn([], undefined);
    expect([peers.get(id), peers.leader, gone]).toEqual([undefined, undefined, [id]]);
  });

  it('does not believe in a row that was old when it was first seen, nor in itself', () => {
    const id = randomUUID();
    peers.learn([row(id, 1, PEER_GONE_MS + 1), row(peers.self, 1)], undefined);
    expect([peers.get(id), peers.get(peers.self)]).toEqual([undefined, undefined]);
  });

  it('asks for a replica that it does not know yet', async () => {
    const id = randomUUID();
    rows = [row(id, 1)];
    await expect(peers.find(id)).resolves.toMatchObject({ id });
    await expect(peers.find(id)).resolves.toMatchObject({ id });
    expect(questions).toBe(1);
  });

  it('asks at most four times a second, however many unknown ids it is given', async () => {
    for (let i = 0; i < 100; i++) await peers.find(randomUUID());
    expect(questions).toBe(1);
    await clock.advance(250);
    await Promise.all(Array.from({ length: 100 }, () => peers.find(randomUUID())));
    expect(questions).toBe(2);
  });
});
