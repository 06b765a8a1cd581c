import { catalogueOf } from '../../../test/support/catalogue.js';
import { CallSlots } from './call-slots.js';

const { serversByName } = catalogueOf([
  { name: 'busy', tools: [] },
  { name: 'free', tools: [] },
]);
const server = (name: string) => {
  const found = serversByName.get(name);
  if (!found) throw new Error(name);
  return found;
};
const never = new AbortController().signal;

describe(CallSlots.name, () => {
  const held = (slots: CallSlots, name: string, principal = 'ada') => {
    const slot = slots.take(server(name).id, principal);
    if (!slot) throw new Error('no slot is free');
    return slot;
  };

  it('runs calls up to the limit, per server', () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    held(slots, 'busy');
    expect(slots.take(server('busy').id, 'ada')).toBeUndefined();
    held(slots, 'free');
  });

  it('gives a freed slot to the longest waiting call', async () => {
    const slots = new CallSlots({ running: 1, waiting: 4 });
    const busy = server('busy');
    const slot = held(slots, 'busy');
    const order: string[] = [];
    const wait = (name: string) =>
      slots.wait(busy, 'ada', 60_000, never).then((given) => {
        order.push(name);
        return given;
      });
    const waiting = [wait('first'), wait('second')];
    slots.release(busy.id, slot);
    const first = await waiting[0];
    expect(slots.take(busy.id, 'ada')).toBeUndefined();
    if (first) slots.release(busy.id, first);
    const second = await waiting[1];
    expect(order).toEqual(['first', 'second']);
    if (second) slots.release(busy.id, second);
    held(slots, 'busy');
  });

  it('leaves slots and queue places to other users, regardless of the load from one user', async () => {
    const slots = new CallSlots({ running: 8, waiting: 8 });
    const busy = server('busy');
    const flood = Array.from({ length: 8 }, () => slots.take(busy.id, 'ada')).filter(Boolean);
    expect(flood).toHaveLength(6);
    const leaving = new AbortController();
    const queued = Array.from({ length: 6 }, () => slots.wait(busy, 'ada', 60_000, leaving.signal));
    expect(() => slots.wait(busy, 'ada', 60_000, never)).toThrow(
      expect.objectContaining({ code: 'OVERLOADED' }),
    );
    const bobs = held(slots, 'busy', 'bob');
    const [oldest] = flood;
    if (oldest) slots.release(busy.id, oldest);
    slots.release(busy.id, bobs);
    held(slots, 'busy', 'bob');
    leaving.abort();
    await Promise.allSettled(queued);
  });

  it('gives a freed slot to the user with the fewest slots', async () => {
    const slots = new CallSlots({ running: 8, waiting: 8 });
    const busy = server('busy');
    const adas = Array.from({ length: 6 }, () => held(slots, 'busy'));
    held(slots, 'busy', 'bob');
    const order: string[] = [];
    const wait = (principal: string) =>
      slots.wait(busy, principal, 60_000, never).then(() => order.push(principal));
    const [ada, bob] = [wait('ada'), wait('bob')];
    for (const slot of adas) slots.release(busy.id, slot);
    await Promise.all([ada, bob]);
    expect(order).toEqual(['bob', 'ada']);
  });

  it('refuses at once when the queue is full, with a time to retry', () => {
    const slots = new CallSlots({ running: 1, waiting: 0 });
    held(slots, 'busy');
    expect(() => slots.wait(server('busy'), 'ada', 60_000, never)).toThrow(
      expect.objectContaining({ code: 'OVERLOADED', retryAfterSeconds: 1 }),
    );
  });

  it('ends a wait at the deadline of the call', async () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    const busy = server('busy');
    const slot = held(slots, 'busy');
    await expect(slots.wait(busy, 'ada', 5, never)).rejects.toMatchObject({
      code: 'EXECUTION_TIMEOUT',
      executed: 'no',
    });
    slots.release(busy.id, slot);
    held(slots, 'busy');
  });

  it('leaves no listener behind once a call has its slot', async () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    const busy = server('busy');
    const slot = held(slots, 'busy');
    const listeners = new Set<unknown>();
    const signal = {
      ...never,
      reason: undefined,
      throwIfAborted: () => undefined,
      addEventListener: (event: string, listener: unknown) =>
        void (event === 'abort' && listeners.add(listener)),
      removeEventListener: (event: string, listener: unknown) =>
        void (event === 'abort' && listeners.delete(listener)),
    };
    const waiting = slots.wait(busy, 'ada', 60_000, signal as unknown as AbortSignal);
    expect(listeners.size).toBe(1);
    slots.release(busy.id, slot);
    await waiting;
    expect(listeners.size).toBe(0);
  });

  it('ends a wait that is cancelled without a reason with an error', async () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    held(slots, 'busy');
    const controller = new AbortController();
    const waiting = slots.wait(server('busy'), 'ada', 60_000, controller.signal);
    controller.abort('no error');
    await expect(waiting).rejects.toBeInstanceOf(Error);
  });

  it('removes cancelled calls from the queue', async () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    const busy = server('busy');
    const slot = held(slots, 'busy');
    const controller = new AbortController();
    const waiting = slots.wait(busy, 'ada', 60_000, controller.signal);
    controller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    slots.release(busy.id, slot);
    held(slots, 'busy');
  });
});
