import fc from 'fast-check';
import { InvalidInput } from '../errors/app-error.js';
import { Cursor, type CursorQuery, isRowId, MAX_OFFSET } from './cursor.js';

const numbers = new Cursor<{ id: string }>('numbers', ({ id }) => id, isRowId);
const names = new Cursor<{ name: string }>(
  'names',
  ({ name }) => name,
  (key) => key !== '',
);
const query = (cursor: string | undefined, offset = 0): CursorQuery => ({
  limit: 2,
  offset,
  ...(cursor !== undefined && { cursor }),
});
const first = numbers.read(query(undefined));
const encoded = (text: string): string => Buffer.from(text).toString('base64url');

describe(Cursor.name, () => {
  it('leads from the last row that was shown to the next page', () => {
    const rows = [{ id: '9' }, { id: '8' }, { id: '7' }];
    const { shown, about } = numbers.page({ rows, counted: 3 }, first);
    expect(shown).toEqual([{ id: '9' }, { id: '8' }]);
    expect(about).toMatchObject({ total: 3, total_is_exact: true, limit: 2, offset: 0 });
    expect(numbers.read(query(about.next_cursor ?? ''))).toMatchObject({ after: '8' });
  });

  it('ends with null on the last page', () => {
    const rows = [{ id: '9' }, { id: '8' }];
    expect(numbers.page({ rows, counted: 2 }, first).about.next_cursor).toBeNull();
  });

  it('reports when the list is longer than the counted rows', () => {
    const about = numbers.page({ rows: [], counted: MAX_OFFSET + 1 }, first).about;
    expect(about).toMatchObject({ total: MAX_OFFSET, total_is_exact: false });
  });

  it('carries any name, spaces and all', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (name) => {
        const rows = [{ name }, { name: 'another' }];
        const { about } = names.page({ rows, counted: 2 }, { ...first, limit: 1 });
        expect(names.read(query(about.next_cursor ?? '')).after).toBe(name);
      }),
    );
  });

  it.each([
    ['of another list', encoded('names 5')],
    ['without a key', encoded('numbers')],
    ['with a key that is none', encoded('numbers 5; DROP TABLE')],
    ['with a number that no row has', encoded('numbers 9223372036854775808')],
    ['with a negative number', encoded('numbers -1')],
    ['of nothing', 'AAAA'],
  ])('refuses a cursor %s', (_, cursor) => {
    expect(() => numbers.read(query(cursor))).toThrow(InvalidInput);
  });

  it('refuses a cursor together with an offset', () => {
    expect(() => numbers.read(query(encoded('numbers 5'), 1))).toThrow(/either/);
  });
});
