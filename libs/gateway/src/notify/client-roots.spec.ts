import type { Catalogue } from '@app/catalogue';
import type { RootsClient } from '@app/mcp-server';
import type { PersonSessions, SessionPool } from '@app/sessions';
import { ClientRoots } from './client-roots.js';

const NONE = { roots: [] };

describe(ClientRoots.name, () => {
  let told: string[];
  let roots: ClientRoots;

  beforeEach(() => {
    told = [];
    const catalogue = {
      current: {
        servers: new Map([
          ['a', {}],
          ['b', {}],
          ['new', {}],
        ]),
      },
    };
    const sessions = {
      get: (id: string) => ({
        era: id === 'new' ? 'modern' : 'legacy',
        notify: async () => void told.push(id),
      }),
    };
    const own = (owner: string) => ({ era: 'legacy', notify: async () => void told.push(owner) });
    const people = {
      of: (subject: string) => new Map(subject === 'eve' ? [['a', own('a of eve')]] : []),
    };
    roots = new ClientRoots(
      catalogue as unknown as Catalogue,
      sessions as unknown as SessionPool,
      people as unknown as PersonSessions,
    );
  });

  const client = (name: string, uri = `file:///${name}`): RootsClient => ({
    caller: { name, subject: name, ip: null },
    roots: async () => ({ roots: [{ uri }] }),
  });
  const rootsOf = async (server: string, user?: string | null) =>
    (await roots.of(server, user)).result;
  const news = (): string[] => told.splice(0);

  it('gives every server the roots of the only client that offers some, and notifies open sessions', async () => {
    roots.offer(client('ada'));
    expect(news()).toEqual(['a', 'b']);
    expect(await rootsOf('a')).toEqual({ roots: [{ uri: 'file:///ada' }] });
  });

  it('gives a server the roots of a client of that server only', async () => {
    roots.offer(client('ada'), ['a']);
    expect(news()).toEqual(['a']);
    expect(await rootsOf('b')).toEqual(NONE);
  });

  it('gives a session that a person of the same name has used none', async () => {
    roots.offer(client('ada'));
    expect(await rootsOf('a', 'ada')).toEqual({ roots: [{ uri: 'file:///ada' }] });
    expect(await rootsOf('a', 'another ada')).toEqual(NONE);
  });

  it('gives none when several clients offer roots', async () => {
    const first = roots.offer(client('ada'));
    roots.offer(client('ada', 'file:///elsewhere'), ['b']);
    news();
    expect(await rootsOf('b')).toEqual(NONE);
    first.release();
    expect(news()).toEqual(['a', 'b']);
    expect(await rootsOf('b')).toEqual({ roots: [{ uri: 'file:///elsewhere' }] });
  });

  it('gives a session of one person the roots of that person alone', async () => {
    const of = async (name: string) =>
      (await roots.of('a', undefined, { subject: name, name })).result;
    roots.offer(client('ada'));
    expect(await of('bob')).toEqual(NONE);
    roots.offer(client('bob'));
    expect(await of('ada')).toEqual({ roots: [{ uri: 'file:///ada' }] });
    expect(await of('bob')).toEqual({ roots: [{ uri: 'file:///bob' }] });
  });

  it('tells the session of a person of the roots of that person alone, each time they change', () => {
    const bob = roots.offer(client('bob'), ['a']);
    expect(news()).toEqual(['a']);
    const eve = roots.offer(client('eve'), ['a']);
    expect(news()).toEqual(['a', 'a of eve']);
    eve.changed();
    expect(news()).toEqual(['a of eve']);
    bob.changed();
    expect(news()).toEqual([]);
    eve.release();
    expect(news()).toEqual(['a', 'a of eve']);
  });

  it('does not give roots of one user to a server that another user uses', async () => {
    roots.offer(client('ada'));
    expect(await roots.of('a', 'ada')).toEqual({
      result: { roots: [{ uri: 'file:///ada' }] },
      principal: 'ada',
    });
    expect(await rootsOf('a', 'bob')).toEqual(NONE);
    expect(await rootsOf('a', null)).toEqual(NONE);
  });

  it('notifies the server when roots change or end', async () => {
    const offer = roots.offer(client('ada'), ['a']);
    news();
    offer.changed();
    expect(news()).toEqual(['a']);
    offer.release();
    expect(news()).toEqual(['a']);
    expect(await rootsOf('a')).toEqual(NONE);
  });

  it('gives none when the client does not answer', async () => {
    const caller = { name: 'ada', subject: 'ada', ip: null };
    roots.offer({ caller, roots: () => Promise.reject(new Error('it does not listen')) });
    expect(await rootsOf('a')).toEqual(NONE);
  });
});
