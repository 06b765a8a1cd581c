import type { Catalogue } from '@app/discovery';
import type { RootsClient } from '@app/mcp';
import type { SessionPool } from '@app/sessions';
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
    roots = new ClientRoots(catalogue as unknown as Catalogue, sessions as unknown as SessionPool);
  });

  const client = (name: string, uri = `file:///${name}`): RootsClient => ({
    caller: { name, ip: null },
    roots: async () => ({ roots: [{ uri }] }),
  });
  const news = (): string[] => told.splice(0);

  it('gives every server the roots of the one client that has some, and tells those with a session', async () => {
    roots.offer(client('ada'));
    expect(news()).toEqual(['a', 'b']);
    expect(await roots.of('a')).toEqual({ roots: [{ uri: 'file:///ada' }] });
  });

  it('gives one server those of a client of that server only', async () => {
    roots.offer(client('ada'), 'a');
    expect(news()).toEqual(['a']);
    expect(await roots.of('b')).toEqual(NONE);
  });

  it('gives none where it cannot be told whose', async () => {
    const first = roots.offer(client('ada'));
    roots.offer(client('ada', 'file:///elsewhere'), 'b');
    news();
    expect(await roots.of('b')).toEqual(NONE);
    first.release();
    expect(news()).toEqual(['a', 'b']);
    expect(await roots.of('b')).toEqual({ roots: [{ uri: 'file:///elsewhere' }] });
  });

  it('takes them back from a server that somebody else begins to use', async () => {
    roots.offer(client('ada'));
    roots.noteUser('a', 'ada');
    news();
    roots.noteUser('a', 'bob');
    expect(news()).toEqual(['a']);
    expect(await roots.of('a')).toEqual(NONE);
    expect(await roots.of('b')).toEqual({ roots: [{ uri: 'file:///ada' }] });
    roots.noteUser('a', 'ada');
    expect(news()).toEqual([]);
  });

  it('says so when they are others, or gone', async () => {
    const offer = roots.offer(client('ada'), 'a');
    news();
    offer.changed();
    expect(news()).toEqual(['a']);
    offer.release();
    expect(news()).toEqual(['a']);
    expect(await roots.of('a')).toEqual(NONE);
  });

  it('gives none when the client does not answer', async () => {
    const caller = { name: 'ada', ip: null };
    roots.offer({ caller, roots: () => Promise.reject(new Error('it does not listen')) });
    expect(await roots.of('a')).toEqual(NONE);
  });
});
