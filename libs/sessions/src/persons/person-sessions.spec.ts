import type { UpstreamSession } from '@app/mcp-client';
import { FakeClock } from '../../../../test/support/fake-clock.js';
import { testEnv } from '../../../../test/support/env.js';
import { PersonSessions } from './person-sessions.js';

const server = (id: string) =>
  ({ id, name: id, status: 'CONNECTED', credentials: 'per_user' }) as const;
const person = (name: string) => ({ name, subject: `token:${name}` });

class Opened {
  pending = 0;
  isClosed = false;
  readonly address = new URL('https://server.example');
  readonly closed: Promise<void>;
  private end: () => void = () => undefined;

  constructor(
    readonly serverId: string,
    readonly subject: string,
  ) {
    this.closed = new Promise((end) => (this.end = end));
  }

  close(): Promise<void> {
    this.isClosed = true;
    this.end();
    return Promise.resolve();
  }
}

describe(PersonSessions.name, () => {
  let clock: FakeClock;
  let opened: Opened[];
  let generations: Map<string, string>;
  let sessions: PersonSessions;

  beforeEach(() => {
    clock = new FakeClock();
    opened = [];
    generations = new Map();
    const generationOf = (subject: string): string => generations.get(subject) ?? 'first';
    const usable = (subject: string): string | undefined => generationOf(subject) || undefined;
    const credentials = {
      accessOf: (_server: unknown, one: { subject: string }) =>
        Promise.resolve({ person: one, generation: generationOf(one.subject), values: {} }),
      generation: (_server: unknown, one: { subject: string }) =>
        Promise.resolve(usable(one.subject)),
      outdated: (_server: string, held: ReadonlyMap<string, string>) =>
        Promise.resolve([...held.keys()].filter((one) => usable(one) !== held.get(one))),
      areGiven: () => Promise.resolve(true),
    };
    const connector = {
      connect: (id: string, _request: unknown, access: { person: { subject: string } }) => {
        const session = new Opened(id, access.person.subject);
        opened.push(session);
        return Promise.resolve(session as unknown as UpstreamSession);
      },
    };
    sessions = new PersonSessions(
      {} as never,
      credentials as never,
      connector as never,
      { hearPerson: () => undefined } as never,
      { hasMoved: () => false } as never,
      { removeOf: () => Promise.resolve() } as never,
      clock,
      testEnv('unused', {
        MCP_AGGREGATOR_PERSON_SESSIONS: '3',
        MCP_AGGREGATOR_PERSON_SESSIONS_PER_SERVER: '2',
        MCP_AGGREGATOR_PERSON_SESSION_IDLE: '60',
      }),
    );
  });

  const acquire = async (id: string, name: string): Promise<UpstreamSession> =>
    (await sessions.acquire(server(id), person(name), 5_000)).session;
  const open = (): string[] =>
    opened.filter(({ isClosed }) => !isClosed).map((one) => `${one.serverId} ${one.subject}`);

  it('keep one session for each person and server, and share an attempt to open it', async () => {
    const [a, b] = await Promise.all([acquire('x', 'ada'), acquire('x', 'ada')]);
    expect(a).toBe(b);
    expect(await acquire('x', 'bob')).not.toBe(a);
    expect(await acquire('y', 'ada')).not.toBe(a);
    expect(open()).toEqual(['x token:ada', 'x token:bob', 'y token:ada']);
  });

  it('end the one that was used least recently when a server has as many as it may have', async () => {
    await acquire('x', 'ada');
    await acquire('x', 'bob');
    await acquire('x', 'ada');
    await acquire('x', 'eve');
    expect(open()).toEqual(['x token:ada', 'x token:eve']);
  });

  it('end none that is in use, and refuse when all are', async () => {
    await acquire('x', 'ada');
    await acquire('x', 'bob');
    for (const one of opened) one.pending = 1;
    await expect(acquire('x', 'eve')).rejects.toMatchObject({ code: 'OVERLOADED' });
    expect(open()).toEqual(['x token:ada', 'x token:bob']);
  });

  it('let the last calls with replaced credentials end, and interrupt those with withdrawn ones', async () => {
    await acquire('x', 'ada');
    await acquire('y', 'ada');
    for (const one of opened) one.pending = 1;
    generations.set('token:ada', 'second');
    await sessions.closeReplaced('x');
    expect(open()).toEqual(['x token:ada', 'y token:ada']);
    for (const one of opened) one.pending = 0;
    await clock.advance(1_000);
    expect(open()).toEqual(['y token:ada']);
    for (const one of opened) one.pending = 1;
    generations.set('token:ada', '');
    await sessions.closeReplaced('y');
    expect(open()).toEqual([]);
  });

  it('stay when they were opened with the credentials that the rows have', async () => {
    await acquire('x', 'ada');
    generations.set('token:ada', 'second');
    const before = sessions.closeReplaced('x');
    await clock.advance(1_000);
    await acquire('x', 'ada');
    await before;
    expect(open()).toEqual(['x token:ada']);
    await sessions.closeReplaced('x');
    expect(open()).toEqual(['x token:ada']);
  });

  it('end what was not used for a while, unless a call still runs', async () => {
    await acquire('x', 'ada');
    await acquire('x', 'bob');
    const [ada] = opened;
    if (ada) ada.pending = 1;
    await clock.advance(60_000);
    await sessions.closeIdle();
    expect(open()).toEqual(['x token:ada']);
  });

  it('are opened again when the credentials have changed, found out within a second', async () => {
    const before = await acquire('x', 'ada');
    generations.set('token:ada', 'second');
    await clock.advance(1_000);
    expect(await acquire('x', 'ada')).not.toBe(before);
    expect(open()).toEqual(['x token:ada']);
  });
});
