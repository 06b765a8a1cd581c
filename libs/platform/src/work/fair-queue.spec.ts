import { FairQueue, type Line } from './fair-queue.js';

interface Item {
  readonly principal: string | undefined;
  readonly name: string;
  isOver: boolean;
}
const item = (principal: string | undefined, name = ''): Item => ({
  principal,
  name,
  isOver: false,
});

function serveAll(queue: FairQueue<Item>): { item: Item | undefined; line: Line<Item> }[] {
  const served = [];
  for (let line = queue.pick(); line; line = queue.pick()) {
    served.push({ item: queue.take(line), line });
  }
  return served;
}
const count = (served: { item: Item | undefined }[], principal: string): number =>
  served.filter((one) => one.item?.principal === principal).length;

describe(FairQueue.name, () => {
  it('leaves a quarter of the places to others, however many calls of one user hang', () => {
    const queue = new FairQueue<Item>(256);
    for (let i = 0; i < 300; i++) queue.add(item('greedy'));
    expect(serveAll(queue)).toHaveLength(192);
    expect(queue.eligible).toBe(0);
    for (let i = 0; i < 40; i++) queue.add(item('other'));
    expect(count(serveAll(queue), 'other')).toBe(40);
  });

  it('has a place for each of many greedy users', () => {
    const queue = new FairQueue<Item>(256);
    for (const user of ['a', 'b', 'c', 'd', 'e']) {
      for (let i = 0; i < 300; i++) queue.add(item(user));
      expect(count(serveAll(queue), user)).toBeGreaterThan(0);
    }
  });

  it('serves owners with the fewest places first, each in order of arrival', () => {
    const queue = new FairQueue<Item>(8);
    for (let i = 0; i < 5; i++) queue.add(item('a', `a${i}`));
    queue.add(item('b', 'b0'));
    queue.add(item('b', 'b1'));
    const names = serveAll(queue).map((one) => one.item?.name);
    expect(names.slice(0, 4)).toEqual(['a0', 'b0', 'a1', 'b1']);
  });

  it('does not bound our own requests', () => {
    const queue = new FairQueue<Item>(4);
    for (let i = 0; i < 10; i++) queue.add(item(undefined));
    expect(serveAll(queue)).toHaveLength(10);
  });

  it('gives a place that is free again to the next', () => {
    const queue = new FairQueue<Item>(4);
    for (let i = 0; i < 5; i++) queue.add(item('a', `a${i}`));
    const [first] = serveAll(queue);
    expect(queue.pick()).toBeUndefined();
    if (first) queue.release(first.line);
    expect(serveAll(queue).map((one) => one.item?.name)).toEqual(['a3']);
  });

  it('drops cancelled requests', () => {
    const queue = new FairQueue<Item>(4);
    const given = item('a', 'given up');
    queue.add(given);
    queue.add(item('a', 'wanted'));
    given.isOver = true;
    queue.prune();
    expect(queue.drain().map(({ name }) => name)).toEqual(['wanted']);
    expect(queue.isEmpty).toBe(true);
  });
});
