import { QueryFailedError } from 'typeorm';
import { troubleOf } from './pg-errors.js';

const coded = (code: string): Error => Object.assign(new Error('as the driver says'), { code });

describe(troubleOf.name, () => {
  it.each([
    ['08006', 'unreachable'],
    ['28P01', 'unreachable'],
    ['3D000', 'unreachable'],
    ['57P01', 'unreachable'],
    ['57P03', 'unreachable'],
    ['53300', 'busy'],
    ['53200', 'busy'],
    ['57014', 'slow'],
    ['55P03', 'slow'],
    ['53100', 'full'],
    ['25006', 'read-only'],
    ['58030', 'failing'],
    ['ECONNREFUSED', 'unreachable'],
    ['EPIPE', 'unreachable'],
    ['ENOSPC', 'full'],
    ['EROFS', 'read-only'],
  ])('takes %s for %s, wrapped by TypeORM or not', (code, trouble) => {
    expect(troubleOf(coded(code))).toBe(trouble);
    expect(troubleOf(new QueryFailedError('SELECT 1', [], coded(code)))).toBe(trouble);
  });

  it.each(['23505', '42P01', '40P01', '22P02', '0A000', 'XX000'])(
    'ignores %s, an error of the statement',
    (code) => {
      expect(troubleOf(coded(code))).toBeUndefined();
    },
  );

  it('treats driver errors without a code as an unreachable database', () => {
    expect(troubleOf(new Error('Connection terminated unexpectedly'))).toBe('unreachable');
    expect(troubleOf(new Error('timeout exceeded when trying to connect'))).toBe('unreachable');
  });

  it('hides no fault of our own', () => {
    expect(troubleOf(new TypeError('Converting circular structure to JSON'))).toBeUndefined();
    expect(troubleOf('a text')).toBeUndefined();
  });
});
