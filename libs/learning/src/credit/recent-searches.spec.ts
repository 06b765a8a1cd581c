import { FakeClock } from '../../../../test/support/fake-clock.js';
import { RecentSearches } from './recent-searches.js';

const HALF_AN_HOUR_MS = 30 * 60_000;

describe(RecentSearches, () => {
  const clock = new FakeClock();
  const search = (caller: string, ...tools: number[]) => ({
    caller,
    viewId: 'view',
    vector: new Float32Array(2),
    tools: new Set(tools),
  });

  it('are found by their id by the caller alone', () => {
    const searches = new RecentSearches(clock);
    const id = searches.add(search('ada', 1), undefined);
    expect(searches.byId(id, 'ada')?.tools).toEqual(new Set([1]));
    expect(searches.byId(id, 'bob')).toBeUndefined();
    expect(searches.byId('other', 'ada')).toBeUndefined();
  });

  it('have an id that cannot be guessed', () => {
    const searches = new RecentSearches(clock);
    const ids = Array.from({ length: 100 }, () => searches.add(search('ada', 1), undefined));
    expect(new Set(ids).size).toBe(100);
    for (const id of ids) expect(id).toMatch(/^[\w-]{12}$/);
  });

  it('of a session are found by a tool that they found, the newest first', () => {
    const searches = new RecentSearches(clock);
    const session = {};
    searches.add(search('ada', 1, 2), session);
    searches.add(search('ada', 2, 3), session);
    expect(searches.inSession(session, 1)?.tools).toEqual(new Set([1, 2]));
    expect(searches.inSession(session, 2)?.tools).toEqual(new Set([2, 3]));
    expect(searches.inSession(session, 4)).toBeUndefined();
    expect(searches.inSession({}, 1)).toBeUndefined();
  });

  it('of a session are bounded by the limits of all searches', () => {
    const searches = new RecentSearches(clock);
    const sessions = Array.from({ length: 300 }, () => ({}));
    for (const session of sessions) searches.add(search('busy', 1), session);
    const known = sessions.filter((session) => searches.inSession(session, 1));
    expect(known).toHaveLength(200);
    expect(searches.size).toBe(200);
  });

  it('of a session are the last few', () => {
    const searches = new RecentSearches(clock);
    const session = {};
    for (let tool = 1; tool <= 6; tool++) searches.add(search('ada', tool), session);
    expect(searches.inSession(session, 1)).toBeUndefined();
    expect(searches.inSession(session, 2)).toBeDefined();
  });

  it('end after half an hour', async () => {
    const own = new FakeClock();
    const searches = new RecentSearches(own);
    const session = {};
    const id = searches.add(search('ada', 1), session);
    await own.advance(HALF_AN_HOUR_MS);
    expect(searches.byId(id, 'ada')).toBeDefined();
    await own.advance(1);
    expect(searches.byId(id, 'ada')).toBeUndefined();
    expect(searches.inSession(session, 1)).toBeUndefined();
  });

  it('are bounded for each caller and for all, and one who searches much loses only its own', () => {
    const searches = new RecentSearches(clock);
    const first = searches.add(search('quiet', 1), undefined);
    const own = Array.from({ length: 300 }, () => searches.add(search('busy', 1), undefined));
    expect(own.filter((id) => searches.byId(id, 'busy'))).toEqual(own.slice(100));
    for (let caller = 0; caller < 20; caller++) {
      for (let i = 0; i < 200; i++) searches.add(search(`caller ${caller}`, 1), undefined);
    }
    expect(searches.size).toBe(2_000);
    expect(searches.byId(first, 'quiet')).toBeDefined();
  });
});
