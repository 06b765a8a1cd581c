import { setImmediate } from 'node:timers/promises';
import type { RpcMessage } from '@app/mcp-protocol';
import { PendingCalls } from '../session/calls/pending-calls.js';
import { ServerMessages } from './server-messages.js';

const TOOLS = 'notifications/tools/list_changed';
const PROMPTS = 'notifications/prompts/list_changed';

describe(ServerMessages.name, () => {
  let heard: string[];
  let messages: ServerMessages;
  const count = (method: string): number => heard.filter((one) => one === method).length;

  beforeEach(() => {
    heard = [];
    const none = (): void => undefined;
    messages = new ServerMessages(new PendingCalls(none), {
      send: () => Promise.resolve(),
      announceRoots: none,
      ping: () => Promise.resolve(),
      giveUp: none,
      callersAsked: none,
      log: none,
    });
    messages.onNotification((method) => heard.push(method));
  });

  function flood(): void {
    for (let i = 0; i < 5_000; i++) messages.notification('notifications/other', {}, undefined);
  }

  it('limits the rate of notifications', () => {
    flood();
    expect(heard.length).toBeLessThanOrEqual(2_000);
  });

  it('delivers a list_changed after a flood of other notifications', () => {
    flood();
    messages.notification(TOOLS, {}, undefined);
    messages.notification(PROMPTS, {}, undefined);
    expect(heard.slice(-2)).toEqual([TOOLS, PROMPTS]);
  });

  it('delivers the last list_changed of a flood of them, and few of the others', async () => {
    for (let i = 0; i < 100_000; i++) messages.notification(TOOLS, {}, undefined);
    expect(count(TOOLS)).toBe(1);
    await setImmediate();
    await setImmediate();
    expect(count(TOOLS)).toBe(2);
  });

  it('delivers a list_changed during the flood of a call', () => {
    flood();
    for (let i = 0; i < 5_000; i++) messages.notification('notifications/other', {}, 1_234);
    messages.notification(TOOLS, {}, 1_234);
    expect(heard.at(-1)).toBe(TOOLS);
  });

  it('delivers nothing after the session is closed', async () => {
    messages.notification(TOOLS, {}, undefined);
    messages.notification(TOOLS, {}, undefined);
    messages.close();
    await setImmediate();
    expect(count(TOOLS)).toBe(1);
  });
});

describe('requests of a server that takes no answer', () => {
  const METHODS = ['ping', 'roots/list', 'sampling/createMessage', 'elicitation/create', 'other'];
  let taken: (() => void)[];
  let lines: string[];
  let sent: RpcMessage[];
  let messages: ServerMessages;

  beforeEach(() => {
    [taken, lines, sent] = [[], [], []];
    const none = (): void => undefined;
    messages = new ServerMessages(new PendingCalls(none), {
      send: (answer) => {
        sent.push(answer);
        return new Promise((resolve) => taken.push(resolve));
      },
      announceRoots: none,
      ping: () => Promise.resolve(),
      giveUp: none,
      callersAsked: none,
      log: (line) => lines.push(line),
    });
  });

  async function ask(method: string, count: number, during?: number): Promise<void> {
    for (let id = 0; id < count; id++) {
      messages.question({ jsonrpc: '2.0', id: `${method} ${id}`, method }, during);
    }
    await setImmediate();
  }

  it.each(METHODS)(
    '%s: a bounded number is answered, and the rest is noted once',
    async (method) => {
      await ask(method, 1_000);
      await ask(method, 1_000, 7);
      expect(sent.length).toBeLessThanOrEqual(192);
      expect(lines).toEqual(['requests get no answer: 128 were not taken yet']);
    },
  );

  it('are answered again once it takes the answers', async () => {
    for (const method of METHODS) await ask(method, 300);
    for (const take of taken.splice(0)) take();
    await setImmediate();
    sent.length = 0;
    await ask('ping', 100);
    expect(sent).toHaveLength(100);
    expect(lines).toHaveLength(1);
  });

  it('are not answered with a text as long as the server likes', async () => {
    messages.question({ jsonrpc: '2.0', id: 'x'.repeat(1_001), method: 'ping' }, undefined);
    messages.question({ jsonrpc: '2.0', id: 1, method: 'm'.repeat(10_000) }, undefined);
    await setImmediate();
    expect(lines).toEqual(['a request gets no answer: its id is longer than 1000 characters']);
    expect(sent).toHaveLength(1);
    expect(JSON.stringify(sent).length).toBeLessThan(300);
  });
});
