import type { JsonObject } from '@app/platform';
import { MAX_AGGREGATORS, Provenance, viaIn } from './provenance.js';

const KEY = 'switchboard/via';
const tool = (...via: string[]): JsonObject => ({ name: 't', _meta: { [KEY]: via, other: 1 } });

describe(Provenance.name, () => {
  it('refuses a session to the aggregator itself, directly or through another one', () => {
    expect(new Provenance(['me'], 'me').refusal).toMatch(/^this is the aggregator itself:/);
    expect(new Provenance(['a', 'me'], 'me').refusal).toMatch(/^this is the aggregator itself, /);
    expect(new Provenance(['a'], 'me').refusal).toBeUndefined();
    expect(new Provenance([], undefined).refusal).toBeUndefined();
  });

  it('refuses a session through too many aggregators', () => {
    const many = Array.from({ length: MAX_AGGREGATORS + 1 }, (_, i) => `a${i}`);
    expect(new Provenance(many, 'me').refusal).toContain('more than 5');
  });

  it('leaves the items of an ordinary server unchanged', () => {
    const item = { name: 't', _meta: { other: 1 } };
    expect(new Provenance([], 'me').admit(item)).toEqual({ item });
  });

  it('records the path of an item through aggregators', () => {
    expect(new Provenance(['a'], 'me').admit({ name: 't' })).toEqual({
      item: { name: 't', _meta: { [KEY]: ['a'] } },
    });
    expect(new Provenance(['a'], 'me').admit(tool('b', 'c'))).toEqual({
      item: { name: 't', _meta: { [KEY]: ['a', 'b', 'c'], other: 1 } },
    });
  });

  it('drops an item that has been here, also from a server that hides its identity', () => {
    for (const via of [['a'], []]) {
      expect(new Provenance(via, 'me').admit(tool('b', 'me'))).toMatchObject({
        refusal: expect.stringContaining('this aggregator itself'),
      });
    }
  });

  it('drops an item with too long a path, and the query tool of another aggregator', () => {
    const far = new Provenance(['a'], 'me').admit(tool('b', 'c', 'd', 'e', 'f'));
    expect(far).toHaveProperty('refusal');
    const query = { name: 'mcp__proxy__aggregator__query' };
    expect(new Provenance(['a'], 'me').admit(query)).toHaveProperty('refusal');
    expect(new Provenance([], 'me').admit(query)).toHaveProperty('item');
  });

  it('adds the path to requests to aggregators, and to no others', () => {
    const params = { _meta: { [KEY]: ['b'] } };
    expect(new Provenance(['a'], 'me').metaFor(params)).toEqual({ [KEY]: ['b', 'me'] });
    expect(new Provenance(['a'], 'me').metaFor(undefined)).toEqual({ [KEY]: ['me'] });
    expect(new Provenance([], 'me').metaFor(params)).toBeUndefined();
  });
});

describe(viaIn.name, () => {
  it.each([undefined, null, 'x', {}, { [KEY]: 'a' }, { [KEY]: [1] }, { [KEY]: ['x'.repeat(65)] }])(
    'reads no path from %j',
    (meta) => {
      expect(viaIn(meta)).toEqual([]);
    },
  );

  it('reads no more than is needed to refuse', () => {
    const via = Array.from({ length: 100_000 }, () => 'a');
    expect(viaIn({ [KEY]: via })).toHaveLength(MAX_AGGREGATORS + 1);
  });
});
