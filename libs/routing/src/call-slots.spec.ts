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
  it('lets as many run as allowed, on each server for itself', () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    expect(slots.take(server('busy').id)).toBe(true);
    expect(slots.take(server('busy').id)).toBe(false);
    expect(slots.take(server('free').id)).toBe(true);
  });

  it('gives a freed slot to whoever waits the longest', async () => {
    const slots = new CallSlots({ running: 1, waiting: 2 });
    const busy = server('busy');
    slots.take(busy.id);
    const order: string[] = [];
    const first = slots.wait(busy, 1_000, never).then(() => order.push('first'));
    const second = slots.wait(busy, 1_000, never).then(() => order.push('second'));
    slots.release(busy.id);
    await first;
    expect(slots.take(busy.id)).toBe(false);
    slots.release(busy.id);
    await second;
    expect(order).toEqual(['first', 'second']);
    slots.release(busy.id);
    expect(slots.take(busy.id)).toBe(true);
  });

  it('refuses at once when the queue is full, and says when to come back', () => {
    const slots = new CallSlots({ running: 1, waiting: 0 });
    slots.take(server('busy').id);
    expect(() => slots.wait(server('busy'), 1_000, never)).toThrow(
      expect.objectContaining({ code: 'OVERLOADED', retryAfterSeconds: 1 }),
    );
  });

  it('does not let anybody wait beyond the deadline of the call', async () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    const busy = server('busy');
    slots.take(busy.id);
    await expect(slots.wait(busy, 5, never)).rejects.toMatchObject({ code: 'EXECUTION_TIMEOUT' });
    slots.release(busy.id);
    expect(slots.take(busy.id)).toBe(true);
  });

  it('forgets who went away', async () => {
    const slots = new CallSlots({ running: 1, waiting: 1 });
    const busy = server('busy');
    slots.take(busy.id);
    const controller = new AbortController();
    const waiting = slots.wait(busy, 1_000, controller.signal);
    controller.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    slots.release(busy.id);
    expect(slots.take(busy.id)).toBe(true);
  });
});
