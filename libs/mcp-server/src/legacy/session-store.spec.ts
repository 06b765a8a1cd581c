import { FakeEndpoint, rpc } from '../fake-endpoint.js';
import { FakeView } from '../fake-view.js';
import { SessionStore } from './session-store.js';

let view: FakeView;
let service: FakeEndpoint;
beforeEach(() => {
  view = new FakeView();
  service = new FakeEndpoint(view, { max: 3 });
});
afterEach(() => service.close());

type Session = Record<string, string>;

const isThere = async (session: Session, caller = 'alice'): Promise<boolean> =>
  (await service.post(rpc('ping'), session, caller)).status === 200;

/** Never answers, until its call is aborted. */
const hang: FakeView['handling'] = (_method, _params, { signal }) =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
  });

describe(SessionStore.name, () => {
  it('finds a session for its caller on its view alone', async () => {
    const session = await service.open();
    const elsewhere = new FakeView('other');
    const on = (used: FakeView) =>
      service.begin('POST', rpc('ping'), session, { view: used }).settled();
    expect((await on(elsewhere)).status).toBe(404);
    expect(await isThere(session, 'bob')).toBe(false);
    expect(await isThere({ 'mcp-session-id': 'guess' })).toBe(false);
    // The same view, read again.
    expect((await on(new FakeView('fake'))).status).toBe(200);
    expect(await isThere(session)).toBe(true);
  });

  it('finds a session of an OAuth client for that client alone', async () => {
    const session = await service.open();
    const other = service.begin('POST', rpc('ping'), session, { more: { client: 'other' } });
    expect((await other.settled()).status).toBe(404);
    expect(await isThere(session)).toBe(true);
  });

  it('finds a session of a person for no other person of that name', async () => {
    const session = await service.open();
    const more = { subject: 'another alice' };
    const other = service.begin('POST', rpc('ping'), session, { more });
    expect((await other.settled()).status).toBe(404);
    service.endpoint.endSessionsOf(['another alice']);
    expect(await isThere(session)).toBe(true);
    service.endpoint.endSessionsOf(['alice']);
    expect(await isThere(session)).toBe(false);
  });

  it('ends the streams of an expired token, and keeps the session for the next one', async () => {
    const session = await service.open();
    let hasExpired = false;
    const more = { isExpired: () => hasExpired };
    await service.begin('GET', undefined, session, { more }).settled();
    service.endpoint.endUnadmitted();
    expect(service.endpoint.standingStreams).toBe(1);
    hasExpired = true;
    service.endpoint.endUnadmitted();
    expect(service.endpoint.standingStreams).toBe(0);
    expect(await isThere(session)).toBe(true);
    await service.listen(session);
    service.endpoint.endUnadmitted();
    expect(service.endpoint.standingStreams).toBe(1);
  });

  it('makes room by ending what has expired, before it evicts', async () => {
    const sessions = [await service.open(), await service.open(), await service.open()];
    service.now += 59_999;
    expect(await isThere(sessions[0] ?? {})).toBe(true);
    service.now += 1;
    await service.open();
    expect(service.endpoint.sessionCount).toBe(2);
    expect(service.limits.noted).toEqual([]);
    expect(await isThere(sessions[0] ?? {})).toBe(true);
  });

  it('evicts the session that was used least recently', async () => {
    const sessions = [await service.open(), await service.open(), await service.open()];
    expect(await isThere(sessions[0] ?? {})).toBe(true);
    await service.open();
    expect(service.limits.noted).toEqual(['sessions alice']);
    const left: boolean[] = [];
    for (const session of sessions) left.push(await isThere(session));
    expect(left).toEqual([true, false, true]);
  });

  it('evicts an idle session before one with running calls or a stream', async () => {
    view.handling = hang;
    const sessions = [await service.open(), await service.open(), await service.open()];
    await service.post(rpc('tools/call'), sessions[0]);
    await service.listen(sessions[1] ?? {});
    expect(await isThere(sessions[2] ?? {})).toBe(true);
    await service.open();
    expect(await isThere(sessions[0] ?? {})).toBe(true);
    expect(await isThere(sessions[1] ?? {})).toBe(true);
    expect(await isThere(sessions[2] ?? {})).toBe(false);
  });

  it('evicts a session with running calls when none is idle', async () => {
    view.handling = hang;
    const sessions = [await service.open(), await service.open(), await service.open()];
    const calls = [];
    for (const session of sessions) calls.push(await service.post(rpc('tools/call'), session));
    await service.open();
    expect(calls.map(({ hasEnded }) => hasEnded)).toEqual([true, false, false]);
    expect(service.endpoint.sessionCount).toBe(3);
  });

  it('evicts the sessions of the principal that has most', async () => {
    const bob = await service.open({}, 'bob');
    for (let count = 0; count < 4; count++) await service.open();
    expect(await isThere(bob, 'bob')).toBe(true);
    await service.open({}, 'carol');
    expect(service.limits.noted.at(-1)).toBe('sessions alice');
    expect(service.endpoint.sessionCount).toBe(3);
  });
});
