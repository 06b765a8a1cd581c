import { ConnectFailed, ConnectionLost } from '@app/mcp-client';
import type { Leadership, Peer, Peers, Tenure } from '@app/platform';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import { NotHere, StdioPlace } from './stdio-place.js';

const LEADER = '11111111-1111-4111-8111-111111111111';
const NEXT = '22222222-2222-4222-8222-222222222222';
const refused = () => new ConnectFailed('unreachable', new ConnectionLost('unreachable', 'no'));

describe(StdioPlace, () => {
  let clock: FakeClock;
  let peers: { isClustered: true; leaderId: string | undefined; find: Peers['find'] };
  let leadership: {
    leads: boolean;
    refresh: Leadership['refresh'];
    currentTenure?: Leadership['currentTenure'];
  };
  let onRefresh: () => void;
  let place: StdioPlace;

  beforeEach(() => {
    clock = new FakeClock();
    peers = {
      isClustered: true,
      leaderId: LEADER,
      find: (id) => Promise.resolve({ id, url: 'http://10.0.0.2:8081' }),
    };
    onRefresh = () => undefined;
    leadership = {
      leads: false,
      refresh: () => {
        onRefresh();
        return Promise.resolve(leadership.leads);
      },
    };
    place = new StdioPlace(peers as Peers, leadership as Leadership, clock, testEnv('unused'));
  });

  const { signal } = new AbortController();
  const at = (connect: (leader: Peer) => Promise<string>) => {
    const outcome = { value: undefined as string | undefined, error: undefined as unknown };
    const done = place.atLeader(signal, connect).then(
      (value) => (outcome.value = value),
      (error: unknown) => (outcome.error = error),
    );
    return { outcome, done };
  };

  it('of a leader that refuses connections is looked for until another leads', async () => {
    const { outcome, done } = at(({ id }) =>
      id === NEXT ? Promise.resolve('session') : Promise.reject(refused()),
    );
    await clock.advance(1_000);
    expect(outcome).toEqual({});
    onRefresh = () => (peers.leaderId = NEXT);
    await clock.advance(200);
    await done;
    expect(outcome.value).toBe('session');
  });

  it('is waited for at a leader that does not listen yet', async () => {
    let isListening = false;
    const next = { id: LEADER, url: 'http://10.0.0.2:8081' };
    Object.assign(peers, {
      isLeaderStarting: true,
      find: () => Promise.resolve(isListening ? next : undefined),
    });
    const { outcome, done } = at(() => Promise.resolve('session'));
    await clock.advance(500);
    expect(outcome).toEqual({});
    isListening = true;
    await clock.advance(200);
    await done;
    expect(outcome.value).toBe('session');
  });

  it('is here as soon as this replica has taken over', async () => {
    const { outcome, done } = at(() => Promise.reject(refused()));
    await clock.advance(300);
    leadership.leads = true;
    await clock.advance(200);
    await done;
    expect(outcome).toEqual({ value: undefined, error: undefined });
  });

  it('is not looked for longer than calls can wait', async () => {
    const { outcome, done } = at(() => Promise.reject(refused()));
    await clock.advance(4_700);
    await done;
    expect(outcome.error).toMatchObject({ message: 'Connecting failed: unreachable' });
  });

  it('stays where the leader answers that the server cannot be started', async () => {
    const { outcome, done } = at(() => Promise.reject(new ConnectFailed('cannot start')));
    await done;
    expect(outcome.error).toMatchObject({ message: 'Connecting failed: cannot start' });
  });

  describe('work for other replicas', () => {
    let ended: AbortController;
    beforeEach(() => {
      ended = new AbortController();
      const tenure: Tenure = { isOver: false, ended: ended.signal };
      leadership.currentTenure = () => tenure;
    });

    it('is done while this replica leads', async () => {
      await expect(place.whileHere(() => Promise.resolve('done'))).resolves.toBe('done');
    });

    it('is refused by a replica that does not lead', async () => {
      leadership.currentTenure = () => undefined;
      await expect(place.whileHere(() => Promise.resolve('done'))).rejects.toThrow(NotHere);
    });

    it('is refused when another replica leads while it waits', async () => {
      const waiting = place.whileHere(() => new Promise(() => undefined));
      ended.abort();
      await expect(waiting).rejects.toThrow(NotHere);
    });
  });
});
