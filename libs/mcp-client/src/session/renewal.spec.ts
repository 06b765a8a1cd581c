import { jest } from '@jest/globals';
import { ConnectFailed, ConnectionLost, CredentialsRefused } from '../upstream.errors.js';
import type { ProtocolEra } from '@app/mcp-protocol';
import { Renewal } from './renewal.js';

describe(Renewal.name, () => {
  let eras: (ProtocolEra | undefined)[];
  let ends: unknown[];
  let negotiate: () => Promise<void>;
  let renewal: Renewal;

  beforeEach(() => {
    jest.useFakeTimers();
    eras = [];
    ends = [];
    negotiate = () => Promise.resolve();
    renewal = new Renewal({
      negotiate: (era) => {
        eras.push(era);
        return negotiate();
      },
      end: (error, cause) => {
        ends.push([error.message, cause]);
        return Promise.resolve();
      },
      guarded: (handle) => handle(),
    });
  });
  afterEach(() => {
    jest.useRealTimers();
  });
  const pass = (ms: number): Promise<void> => jest.advanceTimersByTimeAsync(ms);

  it('replaces a session once for all that notice', async () => {
    let done = 0;
    renewal.onDone(() => done++);
    const both = [renewal.run(0, 'legacy'), renewal.run(0, undefined)];
    expect(renewal.isRunning).toBe(true);
    await Promise.all(both);
    expect([eras, done, renewal.generation, renewal.isRunning]).toEqual([['legacy'], 1, 1, false]);
    await renewal.run(0, 'legacy');
    expect(eras).toHaveLength(1);
    await renewal.run(1, 'legacy');
    expect([eras.length, renewal.generation]).toEqual([2, 2]);
  });

  it('joins a replacement that is running, whichever session is gone', async () => {
    let agree = (): void => undefined;
    negotiate = () => new Promise((resolve) => (agree = resolve));
    const first = renewal.run(0, 'legacy');
    let isOver = false;
    const second = renewal.run(-1, 'legacy').then(() => (isOver = true));
    await pass(0);
    expect(isOver).toBe(false);
    agree();
    await Promise.all([first, second]);
  });

  it('probes a server that refuses the handshake of the era it had', async () => {
    const refused = new ConnectFailed('no', undefined, true);
    negotiate = () => (eras.length === 1 ? Promise.reject(refused) : Promise.resolve());
    await renewal.run(0, 'legacy');
    expect(eras).toEqual(['legacy', undefined]);
  });

  it.each([
    ['another failure', 'legacy', new ConnectFailed('no')],
    ['a refused probe', undefined, new ConnectFailed('no', undefined, true)],
    ['an error that is none of a handshake', 'legacy', new ConnectionLost('reset', 'unknown')],
  ] as const)('ends the session after %s', async (_, era, error) => {
    negotiate = () => Promise.reject(error);
    await expect(renewal.run(0, era)).rejects.toMatchObject({
      reason: 'the server forgot the session and gave no new one',
      executed: 'no',
    });
    expect(eras).toEqual([era]);
    expect(ends).toEqual([[expect.stringContaining('forgot the session'), 'lost']]);
    expect(renewal.generation).toBe(0);
  });

  it('ends the session after five seconds', async () => {
    negotiate = () => new Promise(() => undefined);
    const ended = expect(renewal.run(0, 'legacy')).rejects.toMatchObject({
      cause: expect.objectContaining({
        message: 'Connecting failed: no session in time',
      }) as object,
    });
    await pass(4_999);
    expect(ends).toEqual([]);
    await pass(1);
    await ended;
    expect(ends).toHaveLength(1);
  });

  it('ends the session as refused when the credentials are refused', async () => {
    const refused = new CredentialsRefused(401);
    negotiate = () => Promise.reject(refused);
    await expect(renewal.run(0, 'legacy')).rejects.toBe(refused);
    expect(ends).toEqual([[refused.message, 'refused']]);
  });

  it('lets a request wait no longer than it may, and says how long it waited', async () => {
    let agree = (): void => undefined;
    negotiate = () => new Promise((resolve) => (agree = resolve));
    const waiting = renewal.runFor(7, { renewWithinMs: 300 }, 0, 'legacy');
    const ended = expect(waiting).rejects.toMatchObject({
      reason: 'no new session in time',
      executed: 'no',
      waitedMs: 300,
    });
    await pass(200);
    expect([renewal.waitedMs(7), renewal.waitedMs(8)]).toEqual([200, undefined]);
    await pass(100);
    await ended;
    expect([renewal.waitedMs(7), renewal.isRunning]).toEqual([undefined, true]);
    agree();
    await pass(0);
    expect(renewal.generation).toBe(1);
  });

  it('tells a request that waits how the session ended', async () => {
    const refused = new CredentialsRefused(401);
    negotiate = () => Promise.reject(refused);
    await expect(renewal.runFor(7, {}, 0, 'legacy')).rejects.toBe(refused);
    expect(renewal.waitedMs(7)).toBeUndefined();
  });
});
