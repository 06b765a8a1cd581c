import { setImmediate } from 'node:timers/promises';
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
