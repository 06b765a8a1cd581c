import type { McpClient } from '@app/mcp-server';
import { PendingUrlElicitations } from './pending-url-elicitations.js';

const ID = { elicitationId: '1' };

describe(PendingUrlElicitations.name, () => {
  let told: string[];
  let pending: PendingUrlElicitations;
  beforeEach(() => {
    told = [];
    pending = new PendingUrlElicitations();
  });

  const ask = (subject: string, params: object = ID): void => {
    const client: McpClient = {
      era: 'legacy',
      caller: { name: 'ada', subject, ip: null },
      capabilities: {},
      logLevel: undefined,
      tell: (method) => void told.push(`${subject} ${method}`),
    };
    pending.noteQuestion('server', 'elicitation/create', { ...params }, client);
  };
  const done = (subject: string): string => `${subject} notifications/elicitation/complete`;

  it('tell the client that was asked, once', () => {
    ask('one');
    pending.complete('server', ID, undefined);
    pending.complete('server', ID, undefined);
    expect(told).toEqual([done('one')]);
  });

  it('tell each person of their own, also where their processes chose the same id', () => {
    ask('one');
    ask('two');
    pending.complete('server', ID, 'two');
    expect(told).toEqual([done('two')]);
    pending.complete('server', ID, 'one');
    expect(told).toEqual([done('two'), done('one')]);
  });

  it('tell no person what was said in the session of another', () => {
    ask('one');
    pending.complete('server', ID, 'two');
    expect(told).toEqual([]);
  });

  it('tell none of several people who wait for the same id in one session', () => {
    ask('one');
    ask('two');
    pending.complete('server', ID, undefined);
    expect(told).toEqual([]);
  });

  it('are told apart by server and id', () => {
    ask('one');
    pending.complete('other', ID, undefined);
    pending.complete('server', { elicitationId: '2' }, undefined);
    pending.complete('server', {}, undefined);
    expect(told).toEqual([]);
  });
});
