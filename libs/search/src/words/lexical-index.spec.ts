import fc from 'fast-check';
import { type LexicalDocument, LexicalIndex } from './lexical-index.js';

const all = (): boolean => true;
const everyId = new Set([1, 2, 3, 4, 5, 6, 7, 8]);

function document(id: number, words: Partial<Omit<LexicalDocument, 'id'>>): LexicalDocument {
  return { id, name: '', server: '', description: '', parameters: '', ...words };
}

function indexOf(...documents: LexicalDocument[]): LexicalIndex {
  const index = new LexicalIndex();
  index.update(documents, []);
  return index;
}

const ids = (
  index: LexicalIndex,
  query: string,
  accepts: (id: number) => boolean = all,
): number[] => index.search(query, 10, accepts).map(({ id }) => id);

describe(LexicalIndex, () => {
  it('weights the name above the description, and the description above parameters', () => {
    const index = indexOf(
      document(1, { parameters: 'issue' }),
      document(2, { description: 'issue' }),
      document(3, { name: 'issue' }),
    );
    expect(ids(index, 'issue')).toEqual([3, 2, 1]);
  });

  it('weights a rare word above a common one', () => {
    const index = indexOf(
      document(1, { name: 'get weather' }),
      document(2, { name: 'get user' }),
      document(3, { name: 'get invoice' }),
    );
    expect(ids(index, 'get the weather')[0]).toBe(1);
  });

  it('finds only accepted documents', () => {
    const index = indexOf(document(1, { name: 'issue' }), document(2, { name: 'issue' }));
    expect(ids(index, 'issue', (id) => id === 2)).toEqual([2]);
  });

  it('finds nothing for unknown words or in an empty index', () => {
    expect(ids(new LexicalIndex(), 'issue')).toEqual([]);
    expect(ids(indexOf(document(1, { name: 'issue' })), 'zebra')).toEqual([]);
  });

  it('answers after any changes like a rebuilt index', () => {
    const words = fc.array(fc.constantFrom('read', 'file', 'issue', 'mail', 'user', 'send'), {
      maxLength: 6,
    });
    const text = words.map((list) => list.join(' '));
    const change = fc.record({
      added: fc.array(
        fc.record({
          id: fc.integer({ min: 1, max: 8 }),
          name: text,
          server: text,
          description: text,
          parameters: text,
        }),
        { maxLength: 4 },
      ),
      removed: fc.array(fc.integer({ min: 1, max: 8 }), { maxLength: 3 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        const index = new LexicalIndex();
        const expected = new Map<number, LexicalDocument>();
        for (const { added, removed } of changes) {
          const unique = [...new Map(added.map((doc) => [doc.id, doc])).values()];
          index.update(unique, removed);
          for (const id of removed) expected.delete(id);
          for (const doc of unique) expected.set(doc.id, doc);
        }
        const rebuilt = indexOf(...expected.values());
        expect(index.size).toBe(rebuilt.size);
        for (const query of ['read file', 'issue', 'send mail user']) {
          const scores = (from: LexicalIndex): [number, string][] =>
            from.search(query, 10, all).map(({ id, score }) => [id, score.toFixed(9)]);
          expect(scores(index)).toEqual(scores(rebuilt));
          const parts = query.split(' ').map((word) => [word]);
          const covered = (by: LexicalIndex) =>
            by.coverage(parts, [...everyId], (term) => by.hasTerm(term, everyId));
          expect(covered(index)).toEqual(covered(rebuilt));
        }
      }),
    );
  });

  it('prefers the tool whose whole name is asked for to one whose name is longer', () => {
    const index = indexOf(
      document(1, { name: 'create pull request review', server: 'forge' }),
      document(2, { name: 'create pull request', server: 'forge' }),
    );
    expect(ids(index, 'create a pull request')).toEqual([2, 1]);
  });

  it('finds tools by their exact name in any spelling, until they are removed', () => {
    const index = indexOf(
      document(1, { name: 'create_issue', server: 'forge' }),
      document(2, { name: 'create_issue_comment', server: 'forge' }),
    );
    for (const name of ['create_issue', 'createIssue', 'Create Issue', 'forge__create_issue']) {
      expect(index.withName([name])).toEqual([1]);
    }
    index.update([], [1]);
    expect(index.withName(['create_issue'])).toEqual([]);
  });

  it('says which share of a query a tool has, rare words counting more', () => {
    const index = indexOf(
      document(1, { description: 'get the weather' }),
      document(2, { description: 'get a file' }),
      document(3, { description: 'get a user' }),
    );
    const isKnown = (term: string): boolean => index.hasTerm(term, new Set([1, 2, 3]));
    const parts = [['get'], ['weather']];
    const coverage = index.coverage(parts, [1, 2], isKnown);
    expect(coverage.get(1)).toBe(1);
    expect(coverage.get(2)).toBeLessThan(0.3);
    expect(index.coverage([['weather', 'forecast']], [1], isKnown).get(1)).toBe(1);
    expect(index.coverage([['thermostat']], [1], isKnown).get(1)).toBe(0);
  });

  const words = (start: number, count: number): string =>
    Array.from({ length: count }, (_, i) => nameOf(start + i)).join(' ');
  const nameOf = (i: number): string =>
    `q${[i, i / 26, i / 676].map((part) => String.fromCharCode(97 + (Math.floor(part) % 26))).join('')}q`;

  it('removes one of many documents in slices', () => {
    const index = indexOf(
      ...Array.from({ length: 50 }, (_, i) => document(i, { description: words(200 * i, 200) })),
    );
    const updating = index.updating([], [7]);
    let slices = 0;
    while (!updating.next().done) slices++;
    expect(slices).toBeGreaterThan(3);
    expect(ids(index, words(1_400, 1))).toEqual([]);
    expect(ids(index, words(1_600, 1))).toEqual([8]);
  });

  it('forgets the words of removed documents', () => {
    const index = indexOf(
      document(1, { description: words(0, 2_000) }),
      document(2, { description: words(1_990, 20) }),
    );
    expect(index.words.has(nameOf(0))).toBe(true);
    index.update([], [1]);
    expect(index.words.has(nameOf(0))).toBe(false);
    expect(index.words.has(nameOf(1_995))).toBe(true);
  });
});
