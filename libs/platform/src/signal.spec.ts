import { Signal } from './signal.js';

describe(Signal, () => {
  const failures: unknown[] = [];
  let signal: Signal<number>;

  beforeEach(() => {
    failures.length = 0;
    signal = new Signal<number>('numbers', (error, value) => failures.push([error, value]));
  });

  it('calls listeners in the order in which they began to listen', () => {
    const heard: string[] = [];
    signal.hear((value) => heard.push(`first ${value}`));
    signal.hear((value) => heard.push(`second ${value}`));
    void signal.tell(1);
    expect(heard).toEqual(['first 1', 'second 1']);
  });

  it('calls the other listeners when one throws or rejects, and reports the error', async () => {
    const heard: number[] = [];
    signal.hear(() => {
      throw new Error('thrown');
    });
    signal.hear(() => Promise.reject(new Error('rejected')));
    signal.hear((value) => heard.push(value));
    await signal.tell(1);
    expect(heard).toEqual([1]);
    expect(failures).toEqual([
      [new Error('thrown'), 1],
      [new Error('rejected'), 1],
    ]);
  });

  it('resolves when the promises of all listeners have settled', async () => {
    let end = (): void => undefined;
    const heard: string[] = [];
    signal.hear(async () => {
      await new Promise<void>((resolve) => {
        end = resolve;
      });
      heard.push('ended');
    });
    const told = signal.tell(1).then(() => heard.push('told'));
    await Promise.resolve();
    expect(heard).toEqual([]);
    end();
    await told;
    expect(heard).toEqual(['ended', 'told']);
  });

  it('removes a subscription once, however often it is ended', () => {
    const heard: number[] = [];
    const listener = (value: number): unknown => heard.push(value);
    const stop = signal.hear(listener);
    signal.hear(listener);
    stop();
    stop();
    void signal.tell(1);
    expect(heard).toEqual([1]);
    expect(signal.isHeard).toBe(true);
  });

  it('does not call a listener that an earlier listener removed', () => {
    const heard: number[] = [];
    signal.hear(() => stop());
    const stop = signal.hear((value) => heard.push(value));
    void signal.tell(1);
    expect(heard).toEqual([]);
  });
});
