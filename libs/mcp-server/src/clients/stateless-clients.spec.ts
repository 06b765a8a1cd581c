import type { McpClient } from '../surface.js';
import { clientKey, StatelessClients } from './stateless-clients.js';

const MINUTE_MS = 60_000;
const quiet = { running: 0, streams: 0 };

const client = (name: string, caller = 'ada'): McpClient => ({
  era: 'modern',
  caller: { name: caller, subject: caller, ip: null, endpoint: '/mcp', view: 'default' },
  capabilities: { roots: {} },
  info: { name, version: '1' },
  version: '2026-07-28',
  logLevel: undefined,
});

describe(StatelessClients.name, () => {
  let now: number;
  let changes: string[];
  let clients: StatelessClients;
  beforeEach(() => {
    now = 0;
    changes = [];
    clients = new StatelessClients(
      () => now,
      (change, { info }) => changes.push(`${change} ${info.name}`),
      (at) => new Date(at),
    );
  });

  it('tells clients apart by principal, endpoint and their own name', () => {
    clients.note(client('a'), false);
    clients.note(client('a'), true);
    clients.note(client('b'), true);
    clients.note(client('a', 'bob'), false);
    expect(clients.list(() => quiet)).toMatchObject([
      { caller: 'ada', info: { name: 'a' }, calls: 1 },
      { caller: 'ada', info: { name: 'b' }, calls: 1 },
      { caller: 'bob', info: { name: 'a' }, calls: 0 },
    ]);
    expect(changes).toEqual(['opened a', 'opened b', 'opened a']);
  });

  it('tells the clients of two people of one name apart', () => {
    const { caller, ...rest } = client('a');
    clients.note({ ...rest, caller }, true);
    clients.note({ ...rest, caller: { ...caller, subject: 'another ada' } }, true);
    expect(clients.list(() => quiet)).toMatchObject([{ calls: 1 }, { calls: 1 }]);
  });

  it('forgets a client that sent nothing for five minutes, unless it waits for an answer', () => {
    clients.note(client('idle'), false);
    clients.note(client('busy'), false);
    now = 6 * MINUTE_MS;
    clients.note(client('new'), false);
    clients.expire((key) => key === clientKey(client('busy')));
    expect(clients.list(() => quiet).map(({ info }) => info.name)).toEqual(['busy', 'new']);
    expect(changes.at(-1)).toBe('ended idle');
  });

  it('holds at most 2,000 clients: the one that was seen longest ago gives way', () => {
    for (let n = 0; n < 2_000; n++) {
      now = n;
      clients.note(client(`client-${n}`, `p${n % 40}`), false);
    }
    now = 2_000;
    clients.note(client('client-0', 'p0'), false);
    clients.note(client('another'), false);
    const names = clients.list(() => quiet).map(({ info }) => info.name);
    expect(names).toHaveLength(2_000);
    expect(names).toContain('client-0');
    expect(names).not.toContain('client-1');
  });

  it('lists at most 100 clients of one principal, and tells of no other', () => {
    clients.note(client('steady', 'bob'), false);
    for (let n = 0; n < 500; n++) clients.note(client(`client-${n}`), false);
    expect(clients.list(() => quiet)).toHaveLength(101);
    expect(changes).toHaveLength(101);
    clients.forget(clientKey(client('client-7')));
    clients.note(client('client-400'), false);
    expect(changes.slice(-2)).toEqual(['ended client-7', 'opened client-400']);
  });

  it('ignores requests of other replicas, which note their clients themselves', () => {
    clients.note({ ...client('a'), caller: { name: 'ada', subject: 'ada', ip: null } }, true);
    expect(clients.list(() => quiet)).toEqual([]);
  });
});
