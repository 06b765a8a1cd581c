import { ExactIndex } from './exact-index.js';

const point = (id: number, x: number) => ({
  id: String(id),
  vector: Float32Array.of(x, Math.sqrt(1 - x * x)),
  payload: { server: 'one' },
  fingerprint: '',
});

describe(ExactIndex, () => {
  it('finds as many of the wanted points, however many others are nearer', async () => {
    const index = new ExactIndex();
    await index.open(2);
    await index.upsert(Array.from({ length: 100 }, (_, i) => point(i, 1 - i / 100)));
    const filter = { server: ['one'] };
    const wanted = new Set([10, 97, 98, 99]);
    const find = async (among?: ReadonlySet<number>) =>
      (await index.search([Float32Array.of(1, 0)], 3, filter, among))[0]?.map(({ id }) => id);
    expect(await find(wanted)).toEqual(['10', '97', '98']);
    expect(await find()).toEqual(['0', '1', '2']);
    await index.remove(['10']);
    expect(await find(wanted)).toEqual(['97', '98', '99']);
  });
});
